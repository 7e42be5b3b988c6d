#include "runner/loop/hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "base/nearest_name.h"
#include "runner/processes/output_text.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/argument_template.h"

namespace doetune::runner {
namespace {

std::string variable(const std::string& name) {
  std::string text = "DOETUNE_" + name;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

Hooks::Hooks(const study::StudyDirectory& directory) : directory_(directory) {
  const study::RunSettings& run = directory.study.run;
  if (!run.after_run.empty()) command(run.after_run, "run.after_run", run_values({}, {}));
  if (!run.after_all.empty()) command(run.after_all, "run.after_all", end_values({}));
}

std::string Hooks::after_run(const study::RunRecord& record,
                             const std::filesystem::path& attempt_directory) const {
  return run(directory_.study.run.after_run, "run.after_run",
             run_values(record, attempt_directory));
}

std::string Hooks::after_all(const RunCounts& counts) const {
  return run(directory_.study.run.after_all, "run.after_all", end_values(counts));
}

Hooks::Values Hooks::run_values(const study::RunRecord& record,
                                const std::filesystem::path& attempt_directory) const {
  return {{"study", directory_.study.name},
          {"directory", std::filesystem::absolute(directory_.path).string()},
          {"run", fmt::format("{}", record.run)},
          {"attempt", fmt::format("{}", record.attempt)},
          {"status", std::string(study::run_status_name(record.status))},
          {"attempt_directory", attempt_directory.string()}};
}

Hooks::Values Hooks::end_values(const RunCounts& counts) const {
  return {{"study", directory_.study.name},
          {"directory", std::filesystem::absolute(directory_.path).string()},
          {"completed", fmt::format("{}", counts.completed)},
          {"infeasible", fmt::format("{}", counts.infeasible)},
          {"unsuccessful", fmt::format("{}", counts.unsuccessful())},
          {"remaining", fmt::format("{}", counts.remaining)}};
}

Command Hooks::command(const std::vector<std::string>& arguments, const std::string& key,
                       const Values& values) const {
  const auto value = [&](const std::string& name) {
    const auto found = values.find(name);
    if (found != values.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& entry : values) names.push_back(entry.first);
    throw RunError(fmt::format("{}: there is no '{{{}}}'{} (write {{{{ for a literal brace)", key,
                               name, did_you_mean_or_list(name, names)),
                   key);
  };
  Command command;
  try {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      command.arguments.push_back(study::fill_argument(arguments, i, value));
    }
    command.working_directory = directory_.working_directory;
    command.program = find_program(command.arguments.front(), command.working_directory,
                                   search_path(directory_.study.run.environment));
  } catch (const std::invalid_argument& error) {
    throw RunError(fmt::format("{}: {}", key, error.what()), key);
  } catch (const RunError& error) {
    throw RunError(fmt::format("{}: {}", key, error.what()), key);
  }
  command.environment = directory_.study.run.environment;
  for (const auto& [name, text] : values) command.environment[variable(name)] = text;
  command.time_limit_s = kHookLimit_s;
  return command;
}

std::string Hooks::run(const std::vector<std::string>& arguments, const std::string& key,
                       const Values& values) const {
  if (arguments.empty()) return "";
  const CommandResult result = run_command(command(arguments, key, values));
  if (result.exit_code == 0) return "";
  const std::string how = !result.problem.empty() ? result.problem
                          : result.exit_code      ? fmt::format("exit code {}", *result.exit_code)
                                                  : "ended by a signal";
  const std::string words = printable(last_line(result.errors));
  return fmt::format("{}: {}{}{}", key, how, words.empty() ? "" : ": ", words);
}

}  // namespace doetune::runner
