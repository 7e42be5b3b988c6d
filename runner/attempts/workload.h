// Finds bundled workloads and reads their self-descriptions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/study.h"

namespace doetune::runner {

struct WorkloadFactor {
  std::string name;
  std::string kind;  ///< continuous, integer, discrete, categorical
  std::string unit;
  std::string description;
  std::optional<double> low;
  std::optional<double> high;
  std::vector<std::string> levels;  ///< discrete and categorical: the levels, as text
  std::vector<std::string> words;   ///< words that a setting accepts instead of a number
  std::string default_text;
};

struct WorkloadResponse {
  std::string name;
  std::string unit;
  std::string description;
};

/// What a workload's program prints for --describe.
struct WorkloadDescription {
  std::string name;
  std::string summary;
  std::vector<WorkloadFactor> factors;
  std::vector<WorkloadResponse> responses;
};

/// Directories searched for bundled workloads, in this order: $DOETUNE_WORKLOADS (colon separated),
/// then next to the doetune program: workloads/, ../libexec/doetune/workloads/.
std::vector<std::filesystem::path> workload_directories();

/// Names of the bundled workloads, sorted.
std::vector<std::string> workload_names();

/// The program of a bundled workload. Throws RunError naming the most similar one or, if there is
/// none at all, the directories searched.
std::filesystem::path find_workload(const std::string& name);

/// Runs `program --describe`. Throws RunError if it does not answer within `timeout_s` or its
/// answer is invalid.
WorkloadDescription describe_workload(const std::filesystem::path& program, double timeout_s = 10);

/// A mismatch between a study and a workload.
struct NameProblem {
  std::string key;  ///< key in the study file, as in Study::location
  std::string message;
};

/// Checks the study against the workload: one problem for each unknown factor or setting, each
/// range or level that is not allowed, and each response that it does not measure, with the most
/// similar valid name; factors and settings of its server may be unknown. Empty if there are none.
std::vector<NameProblem> check_names(const study::Study& study,
                                     const WorkloadDescription& description);

}  // namespace doetune::runner
