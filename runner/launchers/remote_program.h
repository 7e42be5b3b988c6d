// Where doetune-attempt, the program that holds a run on another host, lies.
#pragma once

#include <filesystem>
#include <string>

namespace doetune::runner {

/// doetune-attempt as `given` in the study file, else the one beside the running program. Throws
/// RunError where that is missing. `key`: of the study file.
std::filesystem::path attempt_program(const std::string& given, const std::string& key);

}  // namespace doetune::runner
