#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/study_argument.h"
#include "cli/terminal.h"
#include "reports/best_run.h"
#include "reports/format.h"
#include "runner/progress.h"

namespace doetune::cli {
namespace {

using study::RunStatus;

/// The time that the missing runs take if each takes the mean of those completed.
std::optional<double> time_left_s(const reports::Analysis& analysis, int missing) {
  const study::RunSettings& run = analysis.directory->study.run;
  std::optional<double> one_s = run.expected_s;
  double total_s = 0;
  for (const auto& [number, record] : analysis.records) {
    if (record.status == RunStatus::kCompleted) total_s += record.duration_s;
  }
  if (analysis.completed() > 0) one_s = total_s / analysis.completed();
  if (missing == 0) return 0;
  if (!one_s) return std::nullopt;
  return *one_s * missing / run.jobs.value_or(1);
}

int missing_runs(const runner::RunCounts& counts) {
  return counts.remaining + counts.unsuccessful();
}

void print_failures(const reports::Analysis& analysis) {
  for (const auto& [run, record] : analysis.records) {
    if (record.status == RunStatus::kCompleted) continue;
    fmt::print("  run {} {}: {}\n", run, study::run_status_name(record.status), record.reason);
  }
}

void print_best_run(const reports::Analysis& analysis) {
  const auto best = reports::best_measured_run(analysis);
  if (!best) return;
  const study::StudyDirectory& directory = *analysis.directory;
  const study::PlannedRun& run = directory.plan.runs[best->run - 1];
  std::string settings;
  for (std::size_t f = 0; f < run.settings.size(); ++f) {
    const doe::Factor& factor = directory.study.factors[f];
    settings += fmt::format(" {}={}", factor.name, factor.format(run.settings[f]));
  }
  fmt::print("  best run so far: #{}{}{}\n", run.run, settings,
             best->meets_limits ? "" : " (misses a goal)");
  for (const study::Response& response : directory.study.responses) {
    const auto& values = analysis.records.at(run.run).responses;
    const auto value = values.find(response.name);
    if (value == values.end()) continue;
    fmt::print("    {} {}\n", response.name,
               reports::with_unit(reports::short_number(value->second), response.unit));
  }
}

void print_status(const reports::Analysis& analysis, const runner::RunCounts& counts) {
  const study::StudyDirectory& directory = *analysis.directory;
  fmt::print("{}: {} of {} completed\n", coloured(directory.study.name, Colour::kStrong),
             counts.completed, reports::count_of(counts.planned, "run"));
  print_failures(analysis);
  if (const int missing = missing_runs(counts); missing > 0) {
    const auto left_s = time_left_s(analysis, missing);
    fmt::print("  {} to do{}\n", missing, left_s ? ", about " + duration_text(*left_s) : "");
  }
  for (const std::string& warning : analysis.warnings) fmt::print("  warning: {}\n", warning);
  print_best_run(analysis);
}

void print_json(const reports::Analysis& analysis, const runner::RunCounts& counts) {
  const auto left_s = time_left_s(analysis, missing_runs(counts));
  const auto best = reports::best_measured_run(analysis);
  fmt::print(
      "{}\n",
      nlohmann::ordered_json{{"schema_version", 1},
                             {"directory", analysis.directory->path.string()},
                             {"planned", counts.planned},
                             {"completed", counts.completed},
                             {"infeasible", counts.infeasible},
                             {"failed", counts.failed},
                             {"timed_out", counts.timed_out},
                             {"cancelled", counts.cancelled},
                             {"lost", counts.lost},
                             {"remaining", counts.remaining},
                             {"time_left_s", left_s ? nlohmann::ordered_json(*left_s) : nullptr},
                             {"best_run", best ? nlohmann::ordered_json(best->run) : nullptr}}
          .dump(2));
}

}  // namespace

int command_status(const Command& command, const Arguments& arguments) {
  Options options(command);
  add_directory(options);
  if (!options.parse(arguments)) return kDone;
  const study::StudyDirectory directory = open_study(options);
  const reports::Analysis analysis = reports::analyse(directory);
  const runner::RunCounts counts = runner::count_runs(directory.plan, analysis.records);
  if (options.json()) {
    print_json(analysis, counts);
  } else {
    print_status(analysis, counts);
  }
  say_next(fmt::format("doetune {} {}", missing_runs(counts) > 0 ? "run" : "report",
                       directory.path.string()));
  return kDone;
}

}  // namespace doetune::cli
