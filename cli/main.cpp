// doetune: finds the best settings of a GPU system with few designed runs.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/nearest_name.h"
#include "base/standard_streams.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/failure.h"
#include "cli/help/help.h"
#include "runner/processes/run_error.h"
#include "study/directory/directory.h"
#include "study/study.h"

namespace doetune::cli {
namespace {

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

const Command& named(const std::string& name) {
  const Command* command = find_command(name);
  if (command != nullptr) return *command;
  if (name.starts_with('-')) {
    throw UsageError(fmt::format("doetune: unknown option '{}'{}", name,
                                 did_you_mean_or_list(name, {"--help", "--version"})));
  }
  throw UsageError(fmt::format("doetune: unknown command '{}'{}", name,
                               did_you_mean_or_list(name, command_names())));
}

int run_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_message("{}", commands_text());
    return kUsage;
  }
  const std::string& first = arguments[0];
  if (first == "--help" || first == "-h" || first == "help") {
    if (arguments.size() > 1) return named(arguments[1]).run(named(arguments[1]), {"--help"});
    fmt::print("{}", commands_text());
    return kDone;
  }
  if (first == "--version") {
    fmt::print("doetune {}\n", version());
    return kDone;
  }
  const Command& command = named(first);
  try {
    return command.run(command, {arguments.begin() + 1, arguments.end()});
  } catch (const UsageError& error) {
    const std::string start = fmt::format("doetune {}: ", command.name);
    if (std::string_view(error.what()).starts_with(start)) throw;
    throw UsageError(start + error.what());
  }
}

int guarded(const std::vector<std::string>& arguments) {
  const auto failed = [&](const std::string& message, ExitCode code) {
    return fail(arguments, message, code);
  };
  try {
    const int code = run_command(arguments);
    flush_output();
    return code;
  } catch (const std::filesystem::filesystem_error& error) {
    return failed(fmt::format("{}: {}", error.path1().string(), error.code().message()),
                  kStudyDirectory);
  } catch (const UsageError& error) {
    return failed(error.what(), kUsage);
  } catch (const study::StudyError& error) {
    return failed(error.what(), kStudyFile);
  } catch (const runner::RunError& error) {
    return failed(error.what(), kStudyFile);
  } catch (const study::DirectoryError& error) {
    return failed(error.what(), kStudyDirectory);
  } catch (const std::system_error& error) {
    const bool is_output = std::ferror(stdout) != 0;
    return failed(fmt::format("doetune: {}: {}",
                              is_output ? "the output could not be written" : "internal error",
                              is_output ? error.code().message() : error.what()),
                  kInternalError);
  } catch (const std::exception& error) {
    return failed(fmt::format("doetune: internal error: {}", error.what()), kInternalError);
  }
}

}  // namespace
}  // namespace doetune::cli

int main(int argc, char** argv) {
  doetune::reserve_standard_descriptors();
  return doetune::cli::guarded({argv + 1, argv + argc});
}
