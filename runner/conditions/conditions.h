// Under which conditions runs are made: everything that a number may depend on and no factor is.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace doetune::runner {

/// Reads, and never changes:
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
/// "set" is `environment`, what an attempt's program gets on top of this process' own variables;
/// secrets are hidden (environment.h). What is not known is null. It runs git, half a second at
/// most twice, and asks the driver: for the start of `doetune run`, not for every run.
nlohmann::ordered_json read_conditions(const std::filesystem::path& working_directory,
                                       const std::map<std::string, std::string>& environment);

/// A name for conditions that are the same: a hash of all but what differs from run to run or from
/// moment to moment ("now", DOETUNE_ variables, the GPUs assigned) and of inherited variables that
/// do not matter for speed.
std::string conditions_id(const nlohmann::ordered_json& conditions);

}  // namespace doetune::runner
