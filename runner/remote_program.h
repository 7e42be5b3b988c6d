// doetune-attempt, and how a shell elsewhere is told to start it.
#pragma once

#include <filesystem>
#include <string>

namespace doetune::runner {

/// doetune-attempt as `given` in the study file, else the one beside the running program. Throws
/// RunError where that is missing. `key`: of the study file.
std::filesystem::path attempt_program(const std::string& given, const std::string& key);

/// A word for a POSIX shell that means just this text, whatever is in it.
std::string shell_word(const std::string& text);

}  // namespace doetune::runner
