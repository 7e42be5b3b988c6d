// Runs that are executed beside the server of their whole plot, by the doetune-attempt that keeps
// it: entries in SERVER_DIRECTORY/start/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace doetune::runner {

/// Asks for an attempt of the study to be started there. Throws study::DirectoryError.
void place_run(const std::filesystem::path& server_directory,
               const std::filesystem::path& attempt_directory);

/// The attempts asked for so far, as names of directories in STUDY/runs.
std::vector<std::string> placed_runs(const std::filesystem::path& server_directory);

}  // namespace doetune::runner
