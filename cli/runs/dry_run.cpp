#include "cli/runs/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/format.h"
#include "base/host.h"
#include "base/json_format.h"
#include "cli/documents.h"
#include "cli/runs/expected_time.h"
#include "cli/terminal/terminal.h"
#include "runner/launchers/remote_program.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"

namespace doetune::cli {
namespace {

/// The estimated duration of all runs; empty if that of a run is unknown.
struct Cost {
  std::optional<double> each_s;
  std::optional<double> wall_s;
  double gpu_hours = 0;
};

Cost cost_of(const study::StudyDirectory& directory,
             const std::vector<runner::PlannedAttempt>& planned) {
  const auto records = study::final_records(study::read_journal(directory).records);
  Cost cost{seconds_per_run(directory.study, records),
            seconds_for(directory.study, records, static_cast<int>(planned.size()))};
  for (const auto& [run, slot, attempt, server] : planned) {
    cost.gpu_hours += attempt.gpus_wanted * cost.each_s.value_or(0) / 3600;
  }
  return cost;
}

std::string slot_text(const runner::Slot& slot) {
  std::string text;
  if (!slot.host.empty()) text += " on " + slot.host;
  if (!slot.gpus.empty()) text += fmt::format(" GPU {}", fmt::join(slot.gpus, ","));
  if (!slot.cpus.empty()) text += " CPU " + cpu_list(slot.cpus);
  if (slot.scheduled) text += " where the scheduler decides";
  return text;
}

std::string command_text(const runner::Attempt& attempt) {
  std::string text = study::shell_quoted(attempt.program.string());
  for (std::size_t i = 1; i < attempt.arguments.size(); ++i) {
    text += " " + study::shell_quoted(attempt.arguments[i]);
  }
  return text;
}

struct DryRun {
  const std::vector<runner::PlannedAttempt>& planned;
  Cost cost;
};

json::Format<DryRun> dry_run_format() {
  using runner::Attempt, runner::PlannedAttempt;
  const auto attempt = json::object<Attempt>({{"program", &Attempt::program},
                                              {"arguments", &Attempt::arguments},
                                              {"environment", &Attempt::environment},
                                              {"working_directory", &Attempt::working_directory}});
  const auto run = json::object<PlannedAttempt>(
      {{"run", &PlannedAttempt::run},
       {"host", [](const PlannedAttempt& planned) { return planned.slot.host; }},
       {"gpus", [](const PlannedAttempt& planned) { return planned.slot.gpus; }},
       {"gpus_wanted", [](const PlannedAttempt& planned) { return planned.attempt.gpus_wanted; }},
       {"cpus", [](const PlannedAttempt& planned) { return planned.slot.cpus; }},
       {"set_up",
        [](const PlannedAttempt& planned) {
          return planned.server ? std::optional(planned.server->arguments) : std::nullopt;
        }},
       {&PlannedAttempt::attempt, attempt}});
  const auto cost =
      json::object<Cost>({{"expected_run_s", &Cost::each_s},
                          {"expected_s", &Cost::wall_s},
                          {"expected_gpu_hours", [](const Cost& all) {
                             return all.each_s ? std::optional(all.gpu_hours) : std::nullopt;
                           }}});
  const auto planned = [](const DryRun& dry_run) { return dry_run.planned; };
  return json::document<DryRun>({{"runs", planned, run}, {&DryRun::cost, cost}});
}

}  // namespace

void print_dry_run(const study::StudyDirectory& directory,
                   const std::vector<runner::PlannedAttempt>& planned) {
  for (const auto& [run, slot, attempt, server] : planned) {
    fmt::print("#{}{}\n", run, slot_text(slot));
    if (server) fmt::print("     set up: {}\n", command_text(*server));
    fmt::print("     {}\n", command_text(attempt));
    for (const auto& [name, value] : attempt.environment) {
      fmt::print("     {}={}\n", name, study::shell_quoted(value));
    }
  }
  const Cost cost = cost_of(directory, planned);
  fmt::print("{} in {}: ", analysis::count_of(static_cast<int>(planned.size()), "run"),
             directory.working_directory.string());
  if (cost.wall_s) {
    fmt::print("about {} ({} each){}\n", analysis::duration_text(*cost.wall_s),
               analysis::duration_text(*cost.each_s),
               cost.gpu_hours > 0 ? fmt::format(", {:.2g} GPU-hours", cost.gpu_hours) : "");
  } else {
    fmt::print("at most {} each by the time limit; set `run: {{expected: ...}}` for an estimate\n",
               analysis::duration_text(directory.study.run.timeout_s));
  }
}

void print_dry_run_json(const study::StudyDirectory& directory,
                        const std::vector<runner::PlannedAttempt>& planned) {
  fmt::print("{}", dry_run_format().text({planned, cost_of(directory, planned)}));
}

json::Schema dry_run_schema() { return dry_run_format().schema; }

}  // namespace doetune::cli
