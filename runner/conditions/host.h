// Reads the properties of this machine: system, processors, memory, limits, libraries.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace doetune::runner {

/// {"kernel", "distribution", "container"}. `root` is the directory that contains proc, sys and
/// etc. Here and below, unknown values are null.
nlohmann::ordered_json system_conditions(const std::filesystem::path& root,
                                         const std::map<std::string, std::string>& environment);

/// {"model", "count", "usable", "governor", "turbo"}; "usable" by this process.
nlohmann::ordered_json cpu_conditions(const std::filesystem::path& root);

/// {"total_bytes", "swap_bytes"}
nlohmann::ordered_json memory_conditions(const std::filesystem::path& root);

/// {"memory_bytes", "cpus"}: the tightest limits of this process' control groups, version 1 or 2.
nlohmann::ordered_json limit_conditions(const std::filesystem::path& root);

/// {"libcudart": "12.4.127", ...}: versions of CUDA libraries, from their file names; the first
/// directory that contains a library counts.
nlohmann::ordered_json library_conditions(const std::vector<std::filesystem::path>& directories);

/// The library search path: LD_LIBRARY_PATH, then the usual directories.
std::vector<std::filesystem::path> library_directories(
    const std::map<std::string, std::string>& environment);

}  // namespace doetune::runner
