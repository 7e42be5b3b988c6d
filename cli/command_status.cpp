#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command_list.h"
#include "cli/expected_time.h"
#include "cli/study_argument.h"
#include "cli/terminal.h"
#include "reports/analysis/best_run.h"
#include "reports/analysis/run_quality.h"
#include "reports/format.h"
#include "runner/attempt.h"
#include "runner/clock.h"
#include "runner/drift.h"
#include "runner/progress_printer.h"

namespace doetune::cli {
namespace {

using study::RunStatus;

std::optional<double> time_left_s(const reports::Analysis& analysis, int missing) {
  return seconds_for(analysis.directory->study, analysis.records, missing);
}

int missing_runs(const runner::RunCounts& counts) {
  return counts.remaining + counts.unsuccessful();
}

std::string failures_text(const reports::Analysis& analysis) {
  std::string text;
  for (const auto& [run, record] : analysis.records) {
    if (record.status == RunStatus::kCompleted) continue;
    text +=
        fmt::format("  run {} {}: {}\n", run, study::run_status_name(record.status), record.reason);
  }
  return text;
}

/// What limited the runs, and what makes some doubtful, a line for each kind of flag.
std::string quality_text(const reports::Records& records) {
  constexpr std::size_t kMostKinds = 4;
  std::string text;
  if (const std::string limits = reports::bottleneck_sentence(records); !limits.empty()) {
    text += fmt::format("  {}\n", limits);
  }
  const std::vector<reports::RunsAlike> flags = reports::runs_by_flag(records);
  if (flags.empty()) return text;
  const auto flagged = static_cast<int>(reports::flagged_runs(records).size());
  text += fmt::format("  {}\n",
                      coloured(reports::count_of(flagged, "run") + " flagged", Colour::kCaution));
  for (std::size_t i = 0; i < std::min(flags.size(), kMostKinds); ++i) {
    text += fmt::format("    {}: {}\n", reports::runs_text(flags[i].runs), flags[i].what);
  }
  if (flags.size() > kMostKinds) {
    text += fmt::format("    {} of other kinds; `doetune report` has them\n",
                        reports::count_of(static_cast<int>(flags.size() - kMostKinds), "flag"));
  }
  return text;
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

std::string best_run_text(const reports::Analysis& analysis) {
  const auto best = reports::best_measured_run(analysis);
  if (!best) return "";
  const study::StudyDirectory& directory = *analysis.directory;
  const study::PlannedRun& run = directory.plan.runs[best->run - 1];
  std::string text =
      fmt::format("  best run so far: {}{}\n", runner::run_text(directory.study, run),
                  best->meets_limits ? "" : " (misses a goal)");
  for (const study::Response& response : directory.study.responses) {
    const auto& values = analysis.records.at(run.run).responses;
    const auto value = values.find(response.name);
    if (value == values.end()) continue;
    text += fmt::format("    {} {}\n", response.name,
                        reports::with_unit(reports::short_number(value->second), response.unit));
  }
  return text;
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

std::string under_way_text(const reports::Analysis& analysis) {
  const auto owner = study::lock_owner(analysis.directory->path);
  const auto runs = under_way(analysis);
  if (owner) {
    return fmt::format("  doetune is at work ({}){}{}\n", *owner,
                       runs.empty() ? "" : ", runs under way: ", fmt::join(runs, ", "));
  }
  if (runs.empty()) return "";
  return fmt::format("  begun and not recorded: {}; `doetune run` looks what became of them\n",
                     fmt::join(runs, ", "));
}

std::string status_text(const reports::Analysis& analysis, const runner::RunCounts& counts) {
  const study::StudyDirectory& directory = *analysis.directory;
  std::string text =
      fmt::format("{}: {} of {} completed\n", coloured(directory.study.name, Colour::kStrong),
                  counts.completed, reports::count_of(counts.planned, "run"));
  text += failures_text(analysis);
  if (const int missing = missing_runs(counts); missing > 0) {
    const auto left_s = time_left_s(analysis, missing);
    text +=
        fmt::format("  {} to do{}\n", missing, left_s ? ", about " + duration_text(*left_s) : "");
  }
  text += under_way_text(analysis) + quality_text(analysis.records);
  for (const runner::Drift& drift :
       runner::drifts(directory.study, directory.plan, analysis.records)) {
    text += fmt::format("  {}\n", coloured(runner::drift_text(drift),
                                           drift.is_clear ? Colour::kCaution : Colour::kFaint));
  }
  for (const std::string& warning : analysis.warnings) {
    text += fmt::format("  warning: {}\n", warning);
  }
  return text + best_run_text(analysis);
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
  json ? print_json(analysis, counts) : fmt::print("{}", status_text(analysis, counts));
  return missing_runs(counts) > 0;
}

/// What is seen of a study that is watched: on a terminal its status, redrawn in place; elsewhere
/// a line for each run that has ended since, and the status at the end.
class Watch {
 public:
  explicit Watch(const study::StudyDirectory& directory) : directory_(directory) {}

  /// Looks again, and shows what is new. Returns whether runs are missing.
  bool look(bool last) {
    const reports::Analysis analysis = reports::analyse(directory_);
    const runner::RunCounts counts = runner::count_runs(directory_.plan, analysis.records);
    const std::string status = status_text(analysis, counts);
    if (screen_) {
      fmt::print("{}", screen_->redrawn(status));
    } else {
      print_ended(analysis.records, counts);
      if (last) fmt::print("{}", status);
    }
    std::fflush(stdout);
    return missing_runs(counts) > 0;
  }

 private:
  void print_ended(const reports::Records& records, const runner::RunCounts& counts) {
    for (const auto& [run, record] : records) {
      if (std::exchange(seen_[run], record.attempt) == record.attempt) continue;
      fmt::print("{}\n", runner::ended_text(directory_.study, counts, directory_.plan.runs[run - 1],
                                            record));
    }
  }

  const study::StudyDirectory& directory_;
  std::map<int, int> seen_;  ///< the latest attempt of each run that has been shown
  std::optional<Screen> screen_ = Screen::of_stdout();
};

/// Looks again and again until nobody works on it any more. Each look takes at most a tenth of the
/// time, however long a fit takes.
bool watch_status(const study::StudyDirectory& directory) {
  constexpr double kLeastPause_s = 1;
  Watch watch(directory);
  for (;;) {
    const double began_s = runner::monotonic_s();
    const bool last = !study::lock_owner(directory.path);
    const bool missing = watch.look(last);
    if (last) return missing;
    const double pause_s = std::max(kLeastPause_s, 9 * (runner::monotonic_s() - began_s));
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
  }
}

}  // namespace

void describe_status(Options& options) {
  options.add()("watch,w",
                "go on while runs are being made: redrawn on a terminal, elsewhere a line a run");
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
