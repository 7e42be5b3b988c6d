#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <thread>

#include "analysis/best_run.h"
#include "analysis/format.h"
#include "analysis/run_quality.h"
#include "base/clock.h"
#include "base/json_format.h"
#include "base/standard_streams.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/study_argument.h"
#include "cli/runs/expected_time.h"
#include "cli/runs/failed_runs.h"
#include "cli/runs/runs_in_progress.h"
#include "cli/terminal/terminal.h"
#include "runner/loop/drift.h"
#include "runner/loop/progress_printer.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"

namespace doetune::cli {
namespace {

std::optional<double> time_left_s(const analysis::Analysis& analysis, int missing) {
  return seconds_for(analysis.directory->study, analysis.records, missing);
}

/// The runs to be made; where the user makes them, without those that failed: only `run` and `tune`
/// make runs again.
int missing_runs(const study::Study& study, const runner::RunCounts& counts) {
  return counts.remaining + (study.has_program() ? counts.unsuccessful() : 0);
}

/// Bottlenecks of the runs and flags of their measurements, one line for each kind of flag.
std::string quality_text(const analysis::Records& records) {
  constexpr std::size_t kMaxKinds = 4;
  std::string text;
  if (const std::string limits = analysis::bottleneck_sentence(records); !limits.empty()) {
    text += fmt::format("  {}\n", limits);
  }
  const std::vector<analysis::RunsAlike> flags = analysis::runs_by_flag(records);
  if (flags.empty()) return text;
  const auto flagged = static_cast<int>(analysis::flagged_runs(records).size());
  text += fmt::format("  {}\n",
                      coloured(analysis::count_of(flagged, "run") + " flagged", Colour::kCaution));
  for (std::size_t i = 0; i < std::min(flags.size(), kMaxKinds); ++i) {
    text += fmt::format("    {}: {}\n", analysis::runs_text(flags[i].runs), flags[i].what);
  }
  if (flags.size() > kMaxKinds) {
    text += fmt::format("    {} of other kinds; see `doetune report`\n",
                        analysis::count_of(static_cast<int>(flags.size() - kMaxKinds), "flag"));
  }
  return text;
}

std::string best_run_text(const analysis::Analysis& analysis) {
  const auto best = analysis::best_measured_run(analysis);
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
                        analysis::with_unit(analysis::short_number(value->second), response.unit));
  }
  return text;
}

/// Attempts that have begun and are not recorded yet.
std::vector<std::string> under_way(const study::StudyDirectory& directory) {
  std::vector<std::string> texts;
  for (const auto& [run, attempt] : runs_in_progress(directory)) {
    texts.push_back(
        fmt::format("#{}{}", run, attempt > 1 ? fmt::format(" (attempt {})", attempt) : ""));
  }
  return texts;
}

std::string under_way_text(const analysis::Analysis& analysis) {
  const auto owner = study::lock_owner(analysis.directory->path);
  const auto runs = under_way(*analysis.directory);
  if (owner) {
    return fmt::format("  doetune is running ({}){}{}\n", *owner,
                       runs.empty() ? "" : ", runs in progress: ", fmt::join(runs, ", "));
  }
  if (runs.empty()) return "";
  const study::Study& study = analysis.directory->study;
  if (!study.has_program())
    return fmt::format("  in progress, according to `doetune tell --step`: {}\n",
                       fmt::join(runs, ", "));
  return fmt::format("  started but not recorded: {}; `doetune run` recovers their results\n",
                     fmt::join(runs, ", "));
}

/// Of the completed runs, those that count as failed, such as a 0 where a logarithm is wanted.
std::string unusable_text(const analysis::Analysis& analysis, const runner::RunCounts& counts) {
  const int usable = runner::count_runs(analysis.directory->plan, analysis.records).completed;
  if (usable == counts.completed) return "";
  return fmt::format(", {} of them with values that cannot be used", counts.completed - usable);
}

std::string status_text(const analysis::Analysis& analysis, const runner::RunCounts& counts) {
  const study::StudyDirectory& directory = *analysis.directory;
  std::string text = fmt::format(
      "{}: {} of {} completed{}\n", coloured(directory.study.name, Colour::kStrong),
      counts.completed, analysis::count_of(counts.planned, "run"), unusable_text(analysis, counts));
  text += failures_text(directory, analysis.records);
  if (const int missing = missing_runs(directory.study, counts); missing > 0) {
    const auto left_s = time_left_s(analysis, missing);
    text += fmt::format("  {} to do{}\n", missing,
                        left_s ? ", about " + analysis::duration_text(*left_s) : "");
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

struct Flagged {
  int run;
  std::vector<std::string> flags;
};

struct Status {
  const analysis::Analysis& analysis;
  runner::RunCounts counts;

  std::optional<double> left_s() const {
    return time_left_s(analysis, missing_runs(analysis.directory->study, counts));
  }
  std::vector<Flagged> flagged() const {
    std::vector<Flagged> runs;
    for (const int run : analysis::flagged_runs(analysis.records)) {
      runs.push_back({run, analysis.records.at(run).flags});
    }
    return runs;
  }
  json::Value bottlenecks() const {
    json::Value runs = json::Value::object();
    for (const analysis::RunsAlike& group : analysis::runs_by_bottleneck(analysis.records)) {
      runs[group.what] = group.runs.size();
    }
    return runs;
  }
  std::optional<int> best_run() const {
    const auto best = analysis::best_measured_run(analysis);
    return best ? std::optional(best->run) : std::nullopt;
  }
};

json::Format<Status> status_format() {
  const auto flagged = json::object<Flagged>({{"run", &Flagged::run}, {"flags", &Flagged::flags}});
  return json::document<Status>(
      {{"directory", [](const Status& status) { return status.analysis.directory->path; }},
       {&Status::counts, counts_format()},
       {"time_left_s", &Status::left_s},
       {"flagged", &Status::flagged, flagged},
       {"bottlenecks", &Status::bottlenecks, json::map(json::integer())},
       {"best_run", &Status::best_run},
       {"warnings", [](const Status& status) { return status.analysis.warnings; }}});
}

/// The state of a study that determines the next command.
struct Standing {
  runner::RunCounts counts;
  bool at_work = false;  ///< another doetune is running it
};

/// By the journal: also runs whose values are of no use have been made.
runner::RunCounts counts_of(const study::StudyDirectory& directory) {
  return runner::count_runs(directory.plan,
                            study::final_records(study::read_journal(directory).records));
}

/// Surfaces are fitted only when every run has its record and nobody works on the study: the best
/// run is then the report's. A look at runs under way takes no time from them.
analysis::Analysis analysis_of(const study::StudyDirectory& directory) {
  analysis::Analysis analysis = analysis::read_runs(directory);
  const runner::RunCounts counts = counts_of(directory);
  if (counts.remaining > 0 || study::lock_owner(directory.path)) return analysis;
  return analysis::analyse(directory);
}

/// Prints the status of a study once.
Standing show_status(const study::StudyDirectory& directory, bool json) {
  const analysis::Analysis analysis = analysis_of(directory);
  const runner::RunCounts counts = counts_of(directory);
  fmt::print("{}", json ? status_format().text({analysis, counts}) : status_text(analysis, counts));
  flush_output();
  return {counts, study::lock_owner(directory.path).has_value()};
}

/// Redraws the status in place, on a terminal.
class RedrawnStatus {
 public:
  explicit RedrawnStatus(Screen screen) : screen_(std::move(screen)) {}

  runner::RunCounts look(const study::StudyDirectory& directory, bool) {
    const analysis::Analysis analysis = analysis_of(directory);
    const runner::RunCounts counts = counts_of(directory);
    fmt::print("{}", screen_.redrawn(status_text(analysis, counts)));
    flush_output();
    return counts;
  }

 private:
  Screen screen_;
};

/// Without a terminal: prints the status once, then a line for each run that ends, and the final
/// status.
class StatusReporter {
 public:
  runner::RunCounts look(const study::StudyDirectory& directory, bool last) {
    const auto records = study::final_records(study::read_journal(directory).records);
    const runner::RunCounts counts = runner::count_runs(directory.plan, records);
    report(directory, records, counts);
    if (!shown_ || (last && any_reported_)) show_status(directory, false);
    shown_ = true;
    flush_output();
    return counts;
  }

 private:
  /// Reports the runs that have ended since the previous call.
  void report(const study::StudyDirectory& directory, const analysis::Records& records,
              const runner::RunCounts& counts) {
    for (const auto& [run, record] : records) {
      if (std::exchange(seen_[run], record.attempt) == record.attempt || !shown_) continue;
      fmt::print("{}\n",
                 runner::ended_text(directory.study, counts, directory.plan.runs[run - 1], record));
      any_reported_ = true;
    }
  }

  std::map<int, int> seen_;  ///< latest known attempt of each run
  bool shown_ = false;       ///< whether the first status was printed
  bool any_reported_ = false;
};

/// Polls until no process works on the study any more. Polling takes at most a tenth of the time,
/// however long a look takes. Runs may be added meanwhile, so the study is opened each time.
template <class Shown>
Standing watch(const std::filesystem::path& path, Shown shown) {
  constexpr double kMinPause_s = 1;
  for (;;) {
    const double began_s = monotonic_s();
    const bool last = !study::lock_owner(path);
    const runner::RunCounts counts = shown.look(study::open_directory(path), last);
    if (last) return {counts, false};
    const double pause_s = std::max(kMinPause_s, 9 * (monotonic_s() - began_s));
    std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
  }
}

Standing watch_status(const study::StudyDirectory& directory) {
  auto screen = Screen::of_stdout();
  return screen ? watch(directory.path, RedrawnStatus(*std::move(screen)))
                : watch(directory.path, StatusReporter());
}

}  // namespace

json::Schema status_schema() { return status_format().schema; }

void describe_status(Options& options) {
  options.add()("watch,w",
                "keep watching while runs are made: redraws a terminal, otherwise prints a line "
                "when a run ends");
  add_directory(options);
}

int command_status(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const study::StudyDirectory directory = open_study(options);
  if (options.has("watch") && options.json()) {
    throw UsageError("doetune status: --watch is for people, --json for programs; give only one");
  }
  const Standing standing =
      options.has("watch") ? watch_status(directory) : show_status(directory, options.json());
  say_next(standing.at_work ? fmt::format("doetune status {} --watch",
                                          study::shell_quoted(directory.path.string()))
                            : command_after_runs(directory, standing.counts,
                                                 missing_runs(directory.study, standing.counts)));
  return kDone;
}

}  // namespace doetune::cli
