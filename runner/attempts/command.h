// Runs a short command to completion: hooks, `--describe`, version queries.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

struct Command {
  std::filesystem::path program;       ///< absolute
  std::vector<std::string> arguments;  ///< arguments[0] is the program as the user wrote it
  std::map<std::string, std::string> environment = {};  ///< added to the runner's own
  std::filesystem::path working_directory = "/";
  double time_limit_s = 10;
};

struct CommandResult {
  std::optional<int> exit_code;  ///< empty if ended by a signal, stopped, or not started
  std::string output;            ///< standard output, at most 1 MiB
  std::string errors;            ///< standard error, at most 1 MiB
  std::string problem;           ///< why it was stopped or not started; otherwise empty
};

/// Runs a command until it ends or its time limit, then kills everything left in its process group.
/// No shell is involved.
CommandResult run_command(const Command& command);

/// Why a command did not end with exit code 0, with its last words; empty if it did.
std::string failure_text(const CommandResult& result);

}  // namespace doetune::runner
