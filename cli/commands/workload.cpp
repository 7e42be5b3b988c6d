#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/commands/commands.h"
#include "runner/attempts/workload.h"
#include "runner/processes/run_error.h"

namespace doetune::cli {

namespace {

/// Reports an unknown workload as an error of the command line, since there is no study.
std::filesystem::path program_of(const std::string& name) {
  try {
    return runner::find_workload(name);
  } catch (const runner::RunError& error) {
    throw UsageError(fmt::format("doetune workload: {}", error.what()));
  }
}

}  // namespace

void describe_workload(Options& options) {
  options.add_positional("NAME", -1);
  options.choices("NAME", {runner::workload_names(), true});
}

int command_workload(const Command& command, const Arguments& arguments) {
  // All arguments after the name belong to the workload's program, including --help.
  if (arguments.empty() || arguments[0].starts_with("-")) {
    Options options(command);
    if (options.parse(arguments)) options.required("NAME");
    return kDone;
  }
  const std::filesystem::path program = program_of(arguments[0]);
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--json") continue;  // its result is JSON anyway
    argv.push_back(const_cast<char*>(arguments[i].c_str()));
  }
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw runner::RunError(
      fmt::format("{}: cannot be started: {}", program.string(), std::strerror(errno)));
}

}  // namespace doetune::cli
