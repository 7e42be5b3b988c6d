// Under which conditions the runs were made, and whether these were the same.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "study/run_record.h"

namespace doetune::analysis {

/// Conditions that runs name, with what is kept of them.
struct RunConditions {
  std::string id;
  std::vector<int> runs;
  std::set<std::string> hosts;
  nlohmann::ordered_json document;  ///< conditions/ID.json; null where it cannot be read
};

/// In the order of the first runs made under them; runs that name none are left out. A file that is
/// missing, damaged or larger than 1 MiB leaves its document null.
std::vector<RunConditions> run_conditions(const std::filesystem::path& study_directory,
                                          const std::map<int, study::RunRecord>& records);

/// "n1, n2: 8 x NVIDIA H200, driver 550.54, CUDA 12.4; AMD EPYC 9654, 192 processors; Linux 6.1;
/// git revision 1a2b3c4d5e6f with changes"; what is not known is left out.
std::string conditions_text(const RunConditions& conditions);

/// What differs, one text each with the runs: "gpu driver version: 535.1 (run 1), 550.2 (runs 2 and
/// 3)". Serial numbers of GPUs do not count. Inherited variables of the environment are told by
/// their names, and only where nothing else differs: most of them do not matter. Of very many the
/// first few, and how many more.
std::vector<std::string> condition_differences(const std::vector<RunConditions>& conditions);

}  // namespace doetune::analysis
