#include "cli/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "analysis/format.h"
#include "base/host.h"
#include "cli/expected_time.h"
#include "cli/terminal.h"
#include "runner/launchers/remote_program.h"
#include "study/argument_template.h"
#include "study/journal.h"

namespace doetune::cli {
namespace {

using nlohmann::ordered_json;

/// What all of them cost; empty where nothing is known of a run's time.
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
  for (const auto& [run, slot, attempt] : planned) {
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

}  // namespace

void print_dry_run(const study::StudyDirectory& directory,
                   const std::vector<runner::PlannedAttempt>& planned) {
  for (const auto& [run, slot, attempt] : planned) {
    fmt::print("#{}{}\n     {}\n", run, slot_text(slot), command_text(attempt));
    for (const auto& [name, value] : attempt.environment) {
      fmt::print("     {}={}\n", name, study::shell_quoted(value));
    }
  }
  const Cost cost = cost_of(directory, planned);
  fmt::print("{} in {}: ", analysis::count_of(static_cast<int>(planned.size()), "run"),
             directory.working_directory.string());
  if (cost.wall_s) {
    fmt::print("about {} ({} each){}\n", duration_text(*cost.wall_s), duration_text(*cost.each_s),
               cost.gpu_hours > 0 ? fmt::format(", {:.2g} GPU-hours", cost.gpu_hours) : "");
  } else {
    fmt::print("at most {} each by the time limit; set `run: {{expected: ...}}` for an estimate\n",
               duration_text(directory.study.run.timeout_s));
  }
}

void print_dry_run_json(const study::StudyDirectory& directory,
                        const std::vector<runner::PlannedAttempt>& planned) {
  ordered_json runs = ordered_json::array();
  for (const auto& [run, slot, attempt] : planned) {
    runs.push_back({{"run", run},
                    {"host", slot.host},
                    {"gpus", slot.gpus},
                    {"gpus_wanted", attempt.gpus_wanted},
                    {"cpus", slot.cpus},
                    {"program", attempt.program.string()},
                    {"arguments", attempt.arguments},
                    {"environment", attempt.environment},
                    {"working_directory", attempt.working_directory.string()}});
  }
  const Cost cost = cost_of(directory, planned);
  const auto or_null = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  fmt::print("{}\n", ordered_json{{"schema_version", 1},
                                  {"runs", runs},
                                  {"expected_run_s", or_null(cost.each_s)},
                                  {"expected_s", or_null(cost.wall_s)},
                                  {"expected_gpu_hours",
                                   cost.each_s ? ordered_json(cost.gpu_hours) : ordered_json()}}
                         .dump(2));
}

}  // namespace doetune::cli
