// Programs in the file system.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace doetune::runner {

/// Whether a file can be executed by this user.
bool is_executable(const std::filesystem::path& file);

/// PATH as a run's program finds it: the study's, else this process'.
std::string search_path(const std::map<std::string, std::string>& environment);

/// The program that a command's first word means: a path with a slash is taken from the working
/// directory, any other is searched in `search_path` (colon separated).
/// Throws RunError saying where it was looked for.
std::filesystem::path find_program(const std::string& name,
                                   const std::filesystem::path& working_directory,
                                   const std::string& search_path);

/// A program's file in this process' PATH; empty where there is none.
std::filesystem::path in_path(const std::string& name);

}  // namespace doetune::runner
