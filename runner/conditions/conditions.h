// Records the conditions of runs: everything that may affect measurements and is not a factor.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace doetune::runner {

/// Reads without changing anything:
///
///   {"conditions_id": "9f3c...", "doetune": "0.1.0",
///    "source": {"revision", "dirty"},              git's, of the working directory
///    "system": {"kernel", "distribution", "container"},
///    "cpu": {"model", "count", "usable", "governor", "turbo"},
///    "memory": {"total_bytes", "swap_bytes"}, "limits": {"memory_bytes", "cpus"},
///    "gpu_driver": {"version", "cuda", "problem"},
///    "gpus": [{"index", "uuid", "name", "memory_bytes", "persistence", "ecc", "compute_mode",
///              "power_limit_W", "sm_clock_max_MHz", "memory_clock_max_MHz", "mig", "instances",
///              "now": {"sm_clock_MHz", "memory_clock_MHz", "processes"}}],
///    "libraries": {"libcudart", "libcudnn", "libnccl"},
///    "environment": {"set": {...}, "inherited": {...}}}
///
/// "set" is `environment`, the variables set for an attempt in addition to those of this process;
/// secrets are hidden (environment.h). Unknown values are null. Runs git at most twice, for at most
/// half a second each, and queries the driver: call it at the start of `doetune run`, not for every
/// run.
nlohmann::ordered_json read_conditions(const std::filesystem::path& working_directory,
                                       const std::map<std::string, std::string>& environment);

/// An identifier of equal conditions: a hash of everything except what changes from run to run or
/// moment to moment ("now", DOETUNE_ variables, assigned GPUs) and inherited variables irrelevant
/// to performance.
std::string conditions_id(const nlohmann::ordered_json& conditions);

}  // namespace doetune::runner
