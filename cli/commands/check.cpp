#include <fmt/format.h>

#include <sstream>

#include "analysis/format.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/study_argument.h"
#include "cli/runs/expected_time.h"
#include "cli/runs/program_check.h"
#include "cli/runs/smoke_run.h"
#include "cli/terminal/terminal.h"
#include "reports/json/json_parts.h"
#include "runner/loop/progress_printer.h"

namespace doetune::cli {
namespace {

using study::RunStatus;

/// The study of a file, planned but not written, or of a study directory.
study::StudyDirectory planned_study(const std::vector<std::string>& given) {
  const std::filesystem::path path =
      given.empty() ? study::find_directory(std::nullopt) : std::filesystem::path(given.front());
  if (std::filesystem::is_directory(path)) return study::open_directory(path);
  const study::Study study = study::load_study(path);
  return {path, study, study::make_plan(study), "", std::filesystem::absolute(path).parent_path()};
}

/// Estimated seconds for the whole plan if each run takes as long as this one.
double plan_seconds(const study::StudyDirectory& planned, const SmokeRun& smoke) {
  study::RunRecord record = smoke.record;
  record.status = RunStatus::kCompleted;
  return *seconds_for(planned.study, {{1, record}}, static_cast<int>(planned.plan.runs.size()));
}

void print_responses(const study::Study& study, const study::RunRecord& record) {
  TextTable table({"response", "value", "unit", ""});
  for (const study::Response& response : study.responses) {
    const auto value = record.responses.find(response.name);
    const auto note = record.notes.find(response.name);
    table.add({response.name,
               value == record.responses.end() ? "-" : analysis::short_number(value->second),
               response.unit, note == record.notes.end() ? "" : note->second});
  }
  fmt::print("\n{}", table.str());
}

void print_check(const study::StudyDirectory& planned, const SmokeRun& smoke) {
  const study::Study& study = planned.study;
  const study::RunRecord& record = smoke.record;
  const bool completed = record.status == RunStatus::kCompleted;
  fmt::print("{}: {} with {}; one of them:\n", coloured(study.name, Colour::kStrong),
             study.design.type,
             analysis::count_of(static_cast<int>(planned.plan.runs.size()), "run"));
  fmt::print("{} {} after {}{}{}\n", runner::run_text(study, smoke.run),
             coloured(std::string(study::run_status_name(record.status)),
                      completed ? Colour::kGood : Colour::kBad),
             analysis::duration_text(record.duration_s), completed ? "" : ": ", record.reason);
  if (completed || !record.responses.empty()) print_responses(study, record);
  for (const std::string& flag : record.flags) fmt::print("  flag: {}\n", flag);
  if (!completed && !smoke.printed.empty()) {
    fmt::print(
        "\n"
        "Last output of the program:\n");
    std::istringstream lines(smoke.printed);
    for (std::string line; std::getline(lines, line);) fmt::print("  {}\n", line);
  }
  for (const std::string& note : notes_on_command(study))
    fmt::print("{}\n", wrapped(note, 2, kColumns));
  if (completed) {
    fmt::print("\nThe whole plan would take about {}.\n",
               analysis::duration_text(plan_seconds(planned, smoke)));
  }
}

/// A plan, and the run that was tried.
struct Checked {
  const study::StudyDirectory& planned;
  const SmokeRun& smoke;
};

json::Format<Checked> checked_format(const std::vector<doe::Factor>& factors = {}) {
  using study::RunRecord;
  const auto record = json::object<RunRecord>(
      {{"status", [](const RunRecord& made) { return study::run_status_name(made.status); }},
       {"reason", &RunRecord::reason},
       {"duration_s", &RunRecord::duration_s},
       {"responses", &RunRecord::responses},
       {"flags", &RunRecord::flags}});
  const auto plan_s = [](const Checked& checked) {
    return checked.smoke.record.status == RunStatus::kCompleted
               ? std::optional(plan_seconds(checked.planned, checked.smoke))
               : std::nullopt;
  };
  return json::document<Checked>(
      {{"study", [](const Checked& checked) { return checked.planned.study.name; }},
       {"planned", [](const Checked& checked) { return checked.planned.plan.runs.size(); }},
       {"run", [](const Checked& checked) { return checked.smoke.run.run; }},
       {"settings", [](const Checked& checked) { return checked.smoke.run.settings; },
        reports::settings_format(factors)},
       {[](const Checked& checked) { return checked.smoke.record; }, record},
       {"printed", [](const Checked& checked) { return checked.smoke.printed; }},
       {"plan_s", plan_s}});
}

}  // namespace

json::Schema check_schema() { return checked_format().schema; }

void describe_check(Options& options) { options.add_positional("PATH", 1); }

int command_check(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const study::StudyDirectory planned = planned_study(options.list("PATH"));
  check_program(planned);
  const SmokeRun smoke = make_smoke_run(planned);
  if (smoke.interrupted) return kInterrupted;
  options.json() ? fmt::print("{}", checked_format(planned.study.factors).text({planned, smoke}))
                 : print_check(planned, smoke);
  const bool is_planned = std::filesystem::is_directory(planned.path);
  if (smoke.record.status != RunStatus::kCompleted) {
    const auto file = is_planned ? planned.path / "study.yaml" : planned.path;
    say_next(fmt::format("doetune check {} (after fixing this in {} or the program)",
                         planned.path.string(), file.string()));
    return kRunsMissing;
  }
  say_next(fmt::format("doetune {} {}", is_planned ? "run" : "plan", planned.path.string()));
  return kDone;
}

}  // namespace doetune::cli
