#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_list.h"
#include "cli/expected_time.h"
#include "cli/study_argument.h"
#include "cli/terminal.h"
#include "reports/best_run.h"
#include "reports/format.h"
#include "reports/run_quality.h"
#include "runner/attempt.h"
#include "runner/clock.h"
#include "runner/drift.h"
#include "runner/progress.h"

namespace doetune::cli {
namespace {

using study::RunStatus;

std::optional<double> time_left_s(const reports::Analysis& analysis, int missing) {
  return seconds_for(analysis.directory->study, analysis.records, missing);
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

/// What limited the runs, and what makes some doubtful, a line for each kind of flag.
void print_quality(const reports::Records& records) {
  constexpr std::size_t kMostKinds = 4;
  if (const std::string limits = reports::bottleneck_sentence(records); !limits.empty()) {
    fmt::print("  {}\n", limits);
  }
  const std::vector<reports::RunsAlike> flags = reports::runs_by_flag(records);
  if (flags.empty()) return;
  const auto flagged = static_cast<int>(reports::flagged_runs(records).size());
  fmt::print("  {}\n", coloured(reports::count_of(flagged, "run") + " flagged", Colour::kCaution));
  for (std::size_t i = 0; i < std::min(flags.size(), kMostKinds); ++i) {
    fmt::print("    {}: {}\n", reports::runs_text(flags[i].runs), flags[i].what);
  }
  if (flags.size() > kMostKinds) {
    fmt::print("    {} of other kinds; `doetune report` has them\n",
               reports::count_of(static_cast<int>(flags.size() - kMostKinds), "flag"));
  }
}

nlohmann::ordered_json flagged_json(const reports::Records& records) {
  nlohmann::ordered_json flagged = nlohmann::ordered_json::array();
  for (const int run : reports::flagged_runs(records)) {
    flagged.push_back({{"run", run}, {"flags", records.at(run).flags}});
  }
  return flagged;
}

nlohmann::ordered_json bottlenecks_json(const reports::Records& records) {
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (const reports::RunsAlike& group : reports::runs_by_bottleneck(records)) {
    counts[group.what] = group.runs.size();
  }
  return counts;
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

/// Attempts that have begun and have no record yet.
std::vector<std::string> under_way(const reports::Analysis& analysis) {
  std::vector<std::string> texts;
  const std::filesystem::path& path = analysis.directory->path;
  for (const auto& [run, numbers] : runner::attempt_directories(path / "runs")) {
    const int last = *std::max_element(numbers.begin(), numbers.end());
    const auto record = analysis.records.find(run);
    if (record != analysis.records.end() && record->second.attempt >= last) continue;
    texts.push_back(fmt::format("#{}{}", run, last > 1 ? fmt::format(" (attempt {})", last) : ""));
  }
  return texts;
}

void print_under_way(const reports::Analysis& analysis) {
  const auto owner = study::lock_owner(analysis.directory->path);
  const auto runs = under_way(analysis);
  if (owner) {
    fmt::print("  doetune is at work ({}){}{}\n", *owner,
               runs.empty() ? "" : ", runs under way: ", fmt::join(runs, ", "));
  } else if (!runs.empty()) {
    fmt::print("  begun and not recorded: {}; `doetune run` looks what became of them\n",
               fmt::join(runs, ", "));
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
  print_under_way(analysis);
  print_quality(analysis.records);
  for (const runner::Drift& drift :
       runner::drifts(directory.study, directory.plan, analysis.records)) {
    fmt::print("  {}\n", coloured(runner::drift_text(drift),
                                  drift.is_clear ? Colour::kCaution : Colour::kFaint));
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
                             {"flagged", flagged_json(analysis.records)},
                             {"bottlenecks", bottlenecks_json(analysis.records)},
                             {"best_run", best ? nlohmann::ordered_json(best->run) : nullptr}}
          .dump(2));
}

/// One look at a study: the answer of `status`. Returns whether runs are missing.
bool show_status(const study::StudyDirectory& directory, bool json) {
  const reports::Analysis analysis = reports::analyse(directory);
  const runner::RunCounts counts = runner::count_runs(directory.plan, analysis.records);
  json ? print_json(analysis, counts) : print_status(analysis, counts);
  return missing_runs(counts) > 0;
}

/// Looks again and again until nothing is missing, or nobody works on it any more. Each look takes
/// at most a tenth of the time, however long a fit takes.
bool watch_status(const study::StudyDirectory& directory) {
  constexpr double kLeastPause_s = 1;
  const bool redraw = ::isatty(STDOUT_FILENO) == 1;
  for (;;) {
    const double began_s = runner::monotonic_s();
    if (redraw) fmt::print("\x1b[H\x1b[2J");
    const bool missing = show_status(directory, false);
    std::fflush(stdout);
    if (!missing || !study::lock_owner(directory.path)) return missing;
    const double pause_s = std::max(kLeastPause_s, 9 * (runner::monotonic_s() - began_s));
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
  }
}

}  // namespace

void describe_status(Options& options) {
  options.add()("watch,w", "look again every second while runs are being made");
  add_directory(options);
}

int command_status(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const study::StudyDirectory directory = open_study(options);
  if (options.has("watch") && options.json()) {
    throw UsageError("doetune status: --watch is for people, --json for programs: not both");
  }
  const bool missing =
      options.has("watch") ? watch_status(directory) : show_status(directory, options.json());
  say_next(fmt::format("doetune {} {}", missing ? "run" : "report", directory.path.string()));
  return kDone;
}

}  // namespace doetune::cli
