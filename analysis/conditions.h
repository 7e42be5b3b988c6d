// The recorded conditions (hardware, software, environment) of the runs, and their differences.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "study/run_record.h"

namespace doetune::analysis {

/// Conditions recorded by runs, and the stored document.
struct RunConditions {
  std::string id;
  std::vector<int> runs;
  std::set<std::string> hosts;
  nlohmann::ordered_json document;  ///< conditions/ID.json; null if it cannot be read
};

/// In the order of the first runs made under them; omits runs without recorded conditions. A
/// document is null if its file is missing, damaged or larger than 1 MiB.
std::vector<RunConditions> run_conditions(const std::filesystem::path& study_directory,
                                          const std::map<int, study::RunRecord>& records);

/// "n1, n2: 8 x NVIDIA H200, driver 550.54, CUDA 12.4; AMD EPYC 9654, 192 processors; Linux 6.1;
/// git revision 1a2b3c4d5e6f with uncommitted changes"; unknown parts are omitted.
std::string conditions_text(const RunConditions& conditions);

/// One text per difference, with the runs: "gpu driver version: 535.1 (run 1), 550.2 (runs 2 and
/// 3)". Serial numbers of GPUs are ignored. Inherited environment variables are mostly irrelevant:
/// they are listed by name, and only if nothing else differs. Long lists are cut: the first few,
/// and the number of others.
std::vector<std::string> condition_differences(const std::vector<RunConditions>& conditions);

}  // namespace doetune::analysis
