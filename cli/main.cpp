// doetune: finds the best settings of a GPU system with few, well-chosen runs.
#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/terminal.h"
#include "doe/nearest_name.h"
#include "runner/run_error.h"
#include "study/directory.h"
#include "study/study.h"

namespace doetune::cli {
namespace {

void print_commands() {
  fmt::print(
      "doetune finds the best settings of a GPU system with few, well-chosen runs.\n\n"
      "  doetune plan fccd.yaml && doetune run fccd && doetune report fccd\n\nCommands:\n");
  for (const Command& command : commands()) {
    fmt::print("  {:<10} {}\n", command.name, command.summary);
  }
  fmt::print(
      "\n`doetune COMMAND --help` says more of each; `doetune --version` prints the version.\n");
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

int run_command(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h" ||
      arguments[0] == "help") {
    print_commands();
    return arguments.empty() ? kUsage : kDone;
  }
  if (arguments[0] == "--version") {
    fmt::print("doetune {}\n", DOETUNE_VERSION);
    return kDone;
  }
  const Command* command = find_command(arguments[0]);
  if (command == nullptr) {
    throw UsageError(fmt::format("doetune: no command is named '{}'{}", arguments[0],
                                 doe::did_you_mean(arguments[0], command_names())));
  }
  return command->run(*command, {arguments.begin() + 1, arguments.end()});
}

int guarded(const std::vector<std::string>& arguments) {
  const auto report = [](const std::exception& error, ExitCode code) {
    fmt::print(stderr, "{}\n", error.what());
    return code;
  };
  try {
    const int code = run_command(arguments);
    if (std::fflush(stdout) == 0) return code;
    fmt::print(stderr, "doetune: the output could not be written: {}\n", std::strerror(errno));
    return kInternalError;
  } catch (const std::filesystem::filesystem_error& error) {
    return report(error, kStudyDirectory);
  } catch (const UsageError& error) {
    return report(error, kUsage);
  } catch (const study::StudyError& error) {
    return report(error, kStudyFile);
  } catch (const runner::RunError& error) {
    return report(error, kStudyFile);
  } catch (const study::DirectoryError& error) {
    return report(error, kStudyDirectory);
  } catch (const std::exception& error) {
    fmt::print(stderr, "doetune: internal error: {}\n", error.what());
    return kInternalError;
  }
}

}  // namespace
}  // namespace doetune::cli

int main(int argc, char** argv) { return doetune::cli::guarded({argv + 1, argv + argc}); }
