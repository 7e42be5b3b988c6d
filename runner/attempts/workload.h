// Bundled workloads: where their programs are, and what they say of themselves.
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
  std::vector<std::string> levels;  ///< discrete and categorical: the values, as text
  std::vector<std::string> words;   ///< taken by a setting in place of a number
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

/// Where programs of bundled workloads are looked for, in this order: $DOETUNE_WORKLOADS (colon
/// separated), and next to the doetune program: workloads/, ../libexec/doetune/workloads/.
std::vector<std::filesystem::path> workload_directories();

/// Names of the bundled workloads, sorted.
std::vector<std::string> workload_names();

/// The program of a bundled workload. Throws RunError naming the nearest, or where none is found
/// at all, the directories looked in.
std::filesystem::path find_workload(const std::string& name);

/// Asks a workload's program. Throws RunError if it does not answer in `timeout_s`, or nonsense.
WorkloadDescription describe_workload(const std::filesystem::path& program, double timeout_s = 10);

/// What a study asks of a workload in vain.
struct NameProblem {
  std::string key;  ///< of the study file, as in Study::location
  std::string message;
};

/// Whether the study asks of the workload what it can do: a problem for each factor or setting
/// that it does not know, range or level that it does not allow, response that it does not measure;
/// with the nearest valid name. Empty: all is well.
std::vector<NameProblem> check_names(const study::Study& study,
                                     const WorkloadDescription& description);

}  // namespace doetune::runner
