// A short command run to its end: hooks, `--describe`, asking a tool for its version.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

struct Command {
  std::filesystem::path program;       ///< absolute
  std::vector<std::string> arguments;  ///< with the program as the user wrote it as the first
  std::map<std::string, std::string> environment = {};  ///< set on top of the runner's own
  std::filesystem::path working_directory = "/";
  double time_limit_s = 10;
};

struct CommandResult {
  std::optional<int> exit_code;  ///< empty: ended by a signal, stopped, or not started
  std::string output;            ///< standard output, at most 1 MiB of it
  std::string errors;            ///< standard error, likewise
  std::string problem;           ///< why it was stopped or not started; empty where it ended
};

/// Runs a command and waits for its end, or its time limit; whatever it leaves running in its
/// process group is killed. No shell is involved.
CommandResult run_command(const Command& command);

}  // namespace doetune::runner
