// Finds executable programs.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace doetune::runner {

/// Whether a file can be executed by this user.
bool is_executable(const std::filesystem::path& file);

/// PATH for a run's program: the study's if set, otherwise this process'.
std::string search_path(const std::map<std::string, std::string>& environment);

/// Resolves the first word of a command: a path with a slash is relative to the working directory,
/// any other name is searched in `search_path` (colon separated). Throws RunError naming where it
/// was searched.
std::filesystem::path find_program(const std::string& name,
                                   const std::filesystem::path& working_directory,
                                   const std::string& search_path);

/// The path of a program of doetune's that is installed beside this one, such as doetune-attempt.
/// It may not exist.
std::filesystem::path program_beside(const std::string& name);

/// A program found in this process' PATH; empty if there is none.
std::filesystem::path in_path(const std::string& name);

}  // namespace doetune::runner
