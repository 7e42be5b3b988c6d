#include "runner/loop/hooks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

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

Placeholders Hooks::run_values(const study::RunRecord& record,
                               const std::filesystem::path& attempt_directory) const {
  return {{"study", directory_.study.name},
          {"directory", std::filesystem::absolute(directory_.path).string()},
          {"run", fmt::format("{}", record.run)},
          {"attempt", fmt::format("{}", record.attempt)},
          {"status", std::string(study::run_status_name(record.status))},
          {"attempt_directory", attempt_directory.string()}};
}

Placeholders Hooks::end_values(const RunCounts& counts) const {
  return {{"study", directory_.study.name},
          {"directory", std::filesystem::absolute(directory_.path).string()},
          {"completed", fmt::format("{}", counts.completed)},
          {"infeasible", fmt::format("{}", counts.infeasible)},
          {"unsuccessful", fmt::format("{}", counts.unsuccessful())},
          {"remaining", fmt::format("{}", counts.remaining)}};
}

Command Hooks::command(const std::vector<std::string>& arguments, const std::string& key,
                       const Placeholders& values) const {
  Command command = study_command(directory_, arguments, key, values);
  for (const auto& [name, text] : values) command.environment[variable(name)] = text;
  command.time_limit_s = kHookLimit_s;
  return command;
}

std::string Hooks::run(const std::vector<std::string>& arguments, const std::string& key,
                       const Placeholders& values) const {
  if (arguments.empty()) return "";
  const std::string failure = failure_text(run_command(command(arguments, key, values)));
  return failure.empty() ? "" : fmt::format("{}: {}", key, failure);
}

}  // namespace doetune::runner
