// Locates doetune-attempt, the program that runs attempts on other hosts.
#pragma once

#include <filesystem>
#include <string>

namespace doetune::runner {

/// doetune-attempt as `given` in the study file, by default the one next to the running program.
/// Throws RunError if that is missing. `key` is the key in the study file.
std::filesystem::path attempt_program(const std::string& given, const std::string& key);

}  // namespace doetune::runner
