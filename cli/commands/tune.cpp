#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/confirmation.h"
#include "analysis/failed_runs.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "base/standard_streams.h"
#include "cli/commands/commands.h"
#include "cli/failure.h"
#include "cli/live/live_report.h"
#include "cli/options/run_options.h"
#include "cli/options/search_options.h"
#include "cli/runs/confirm_optimum.h"
#include "cli/runs/execute_in_study.h"
#include "cli/runs/failed_runs.h"
#include "cli/runs/front_of_goals.h"
#include "cli/runs/program_check.h"
#include "cli/runs/search_directory.h"
#include "cli/terminal/terminal.h"
#include "runner/loop/progress_printer.h"
#include "runner/loop/run_study.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "study/directory/patience.h"
#include "study/directory/results.h"
#include "study/file/yaml.h"
#include "tuning/search.h"
#include "tuning/study_search.h"
#include "tuning/utility.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

std::optional<double> time_limit(const Options& options, const char* name) {
  if (!options.has(name)) return std::nullopt;
  const auto seconds = study::parse_duration(options.text(name));
  if (seconds) return seconds;
  throw UsageError(fmt::format("--{}: expected a time, such as 2h or '90 min', found '{}'", name,
                               options.text(name)));
}

/// --energy in joules.
std::optional<double> energy_limit(const Options& options) {
  if (!options.has("energy")) return std::nullopt;
  const std::string text = options.text("energy");
  for (const auto& [unit, joules] :
       {std::pair("kWh", 3.6e6), {"Wh", 3600.0}, {"kJ", 1e3}, {"J", 1.0}}) {
    if (!text.ends_with(unit)) continue;
    std::string number = text.substr(0, text.size() - std::string_view(unit).size());
    while (number.ends_with(' ')) number.pop_back();
    const auto value = study::parse_number(number);
    if (value && *value > 0) return *value * joules;
    break;
  }
  throw UsageError(
      fmt::format("--energy: expected an energy, such as '2 kWh' or 500kJ, found '{}'", text));
}

/// How many runs are made at a time; a queue alone does not say.
int jobs_of(const Options& options, const study::RunSettings& run) {
  if (const auto jobs = run_options(options).jobs) return *jobs;
  if (run.jobs) return *run.jobs;
  if (run.launcher == "slurm-pilot") return run.slurm.nodes;
  int jobs = 0;
  if (run.launcher == "ssh")
    for (const study::SshHost& host : run.ssh.hosts) jobs += host.jobs;
  return std::max(1, jobs);
}

tuning::SearchLimits limits_of(const Options& options, const study::Study& study,
                               const study::SearchState& before = {}) {
  study::SearchState given = limits_given(options, study, before);
  given.seconds = time_limit(options, "time").value_or(given.seconds);
  given.gpu_seconds = time_limit(options, "gpu-time").value_or(given.gpu_seconds);
  given.joules = energy_limit(options).value_or(given.joules);
  const study::Count& gpus = study.run.gpus_per_run;
  if (options.has("gpu-time") && gpus.factor.empty() && gpus.fixed == 0) {
    throw UsageError("--gpu-time: the runs of this study use no GPUs (run: {gpus_per_run: 1})");
  }
  if (options.has("energy") && study.run.telemetry_hz == 0) {
    throw UsageError("--energy: the runs of this study record no power (run: {telemetry: 0})");
  }
  tuning::SearchLimits limits = tuning::search_limits(study, given);
  limits.jobs = jobs_of(options, study.run);
  return limits;
}

int batch_of(const Options& options, const study::Study& study,
             const tuning::SearchLimits& limits) {
  return positive_option(options, "batch", tuning::default_batch(study, limits.jobs));
}

/// Runs a search until it ends, for a reason.
class SearchLoop {
 public:
  /// `again`: runs that failed before are made again.
  SearchLoop(const Options& options, const tuning::SearchLimits& limits, int batch,
             study::StudyDirectory& directory, bool again)
      : directory_(directory),
        search_(directory, limits),
        run_(run_options(options)),
        batch_(batch),
        launcher_(make_launcher(options, directory)),
        problem_(tuning::problem_of(directory.study)),
        printer_(directory.study, runner::ProgressOutput::of(stderr)) {
    if (!again || !search_.has_means(directory)) run_.again.clear();
  }

  /// Makes the runs that are planned, then those that are proposed.
  void run() {
    while (make_planned_runs() && propose()) {
    }
  }

  bool interrupted() const { return interrupted_; }
  bool gave_up() const { return gave_up_; }
  const tuning::Search& search() const { return search_; }

 private:
  /// Returns whether the search can go on. What failed before is made again once, not at each step.
  bool make_planned_runs() {
    const auto records = study::final_records(study::read_journal(directory_).records);
    run_.ends_early = tuning::assess_of(directory_, records);
    const runner::RunSummary summary =
        runner::run_study(directory_, run_, *launcher_, printer_, interrupts_);
    printer_.clear();
    run_.again.clear();
    interrupted_ = summary.interrupted || interrupts_.count() > 0;  // perhaps in its last run
    gave_up_ = summary.gave_up;
    observe();
    return !interrupted_ && !gave_up_;
  }

  /// Reads what has been measured.
  void observe() {
    const auto records = study::final_records(study::read_journal(directory_).records);
    say_unusable(records);
    so_far_ = tuning::observations_of(directory_, records);
    problem_ = tuning::open_problem(directory_, records);
    const auto best = tuning::best_measured(problem_, so_far_);
    if (best && so_far_[*best].settings != best_) {
      best_ = so_far_[*best].settings;
      print_message("  best so far: {}, {}\n",
                    analysis::settings_text(directory_.study.factors, best_),
                    values_text(so_far_[*best]));
    }
  }

  /// Completed runs whose values are of no use, each once.
  void say_unusable(const std::map<int, study::RunRecord>& records) {
    for (const auto& [run, record] : study::usable_records(directory_, records)) {
      if (record.status == records.at(run).status || !unusable_.insert(run).second) continue;
      print_message("  run {} counts as failed: {}\n", run, record.reason);
    }
  }

  std::string values_text(const tuning::Observation& observation) const {
    std::string text;
    for (const tuning::Objective& objective : problem_.objectives) {
      const study::Response* response = directory_.study.find_response(objective.name);
      text += fmt::format(
          "{}{} {}", text.empty() ? "" : ", ", objective.name,
          analysis::with_unit(analysis::short_number(observation.values.at(objective.name)),
                              response->unit));
    }
    return text;
  }

  /// Adds the next runs; returns false if there are none that are worth it.
  bool propose() {
    const auto proposed = search_.propose(directory_, batch_);
    for (const tuning::NextRun& next : proposed) say(*next.proposal);
    return !proposed.empty();
  }

  void say(const tuning::Proposal& proposal) const {
    const std::string completes =
        fmt::format("{:.0f} % likely to complete", 100 * proposal.completes);
    const std::string meets =
        fmt::format("{:.0f} % to meet the limits", 100 * proposal.meets_limits);
    std::string why;
    if (proposal.untried) {
      why = "a level that no run has had, " + completes;
    } else if (proposal.explores) {
      why = "far from all runs, " + completes;
    } else if (proposal.gain) {
      why = fmt::format("expected gain {:.1f} %, {}{}", 100 * *proposal.gain, completes,
                        has_limits() ? " and " + meets : "");
    } else {
      why = fmt::format("no run is expected to meet the limits yet; {} and {}", completes, meets);
    }
    print_message("next: {} ({})\n",
                  analysis::settings_text(directory_.study.factors, proposal.settings), why);
  }

  bool has_limits() const {
    return std::any_of(
        problem_.objectives.begin(), problem_.objectives.end(),
        [](const tuning::Objective& objective) { return objective.goal.is_limit(); });
  }

  study::StudyDirectory& directory_;
  tuning::Search search_;
  runner::RunOptions run_;
  int batch_;
  std::unique_ptr<runner::Launcher> launcher_;
  tuning::Problem problem_;
  runner::ProgressPrinter printer_;
  runner::SignalInterrupts interrupts_;
  std::vector<tuning::Observation> so_far_;
  tuning::Settings best_;
  std::set<int> unusable_;
  bool interrupted_ = false;
  bool gave_up_ = false;
};

/// Whether there are confirmation runs of what is the optimum now.
bool is_confirmed(const study::StudyDirectory& directory) {
  return analysis::confirmation_of(analysis::analyse(directory)).has_value();
}

/// Searches and confirms; as long as that fails and there are runs left, goes on.
int tune_directory(const Arguments& arguments, const Options& options,
                   const tuning::SearchLimits& limits, int batch,
                   study::StudyDirectory& directory) {
  std::optional<int> confirmed;
  while (true) {
    const std::size_t before = directory.plan.runs.size();
    SearchLoop loop(options, limits, batch, directory, !confirmed);
    loop.run();
    if (loop.interrupted()) return conclude_interrupted(directory, "tune");
    if (loop.gave_up()) {
      const auto records = study::final_records(study::read_journal(directory).records);
      const char* why =
          analysis::any_completed(records) ? "a run has failed" : "no run has completed";
      std::string failures = failures_text(directory, records);
      while (failures.ends_with('\n')) failures.pop_back();
      return fail(arguments, fmt::format("Search stopped: {}\n{}", why, failures), kRunsMissing);
    }
    print_message("The search ends: {}\n", loop.search().reason());
    const bool has_new_runs = directory.plan.runs.size() > before;
    if (confirmed && !has_new_runs && is_confirmed(directory)) return *confirmed;
    if (limits.front) return conclude_front(directory, options.json());
    const int confirmations = loop.search().confirmations(directory);
    if (confirmations < 1 || !can_be_confirmed(directory))
      return conclude_unconfirmed(directory, options.json());
    int more = 0;
    const auto confirm = [&](int runs) {
      return confirm_optimum(options, directory, runs, "tune", [&](int code) {
        more = code == kRunsMissing ? tuning::more_confirmations(directory, limits) : 0;
        return more > 0 || (code == kNotConfirmed && loop.search().runs_left(directory) >= 1);
      });
    };
    confirmed = confirm(confirmations);
    if (more > 0) {
      print_message("These runs do not show whether there is a gain: more of them\n");
      confirmed = confirm(more);
    }
    if (*confirmed != kNotConfirmed || loop.search().runs_left(directory) < 1) return *confirmed;
    print_message("The search goes on, using the results of these runs\n");
  }
}

}  // namespace

void describe_tune(Options& options) {
  const auto number = [] { return po::value<int>()->value_name("N"); };
  options.add()("batch", number(),
                "number of runs to propose at a time (as many as run concurrently)");
  options.add()("time", po::value<std::string>()->value_name("TIME"),
                "limit on the total run time, including confirmation runs, such as 2h")(
      "gpu-time", po::value<std::string>()->value_name("TIME"),
      "limit on the GPU time: run time multiplied by the GPUs of each run, such as 8h")(
      "energy", po::value<std::string>()->value_name("ENERGY"),
      "limit on the energy of GPUs and processors that telemetry records, such as '2 kWh'");
  add_run_options(options);
  add_live(options);
  add_search(options);
}

int command_tune(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  study::StudyDirectory directory = search_directory(
      options, Executes::kDoetune,
      [&](const study::Study& study) { batch_of(options, study, limits_of(options, study)); });
  const auto hold = study::hold_when_free(directory);
  try {
    // Mistakes in options are reported before the address of the report is printed.
    const tuning::SearchLimits limits =
        limits_of(options, directory.study, study::read_search_state(directory.path));
    tuning::check_budget(directory, limits.budget);
    const int batch = batch_of(options, directory.study, limits);
    LiveReport live(options, directory, limits.budget);
    return live.finish(tune_directory(arguments, options, limits, batch, directory));
  } catch (const runner::RunError& error) {
    report_with_location(directory.study, error);
  }
}

}  // namespace doetune::cli
