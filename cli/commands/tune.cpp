#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "base/standard_streams.h"
#include "cli/commands/commands.h"
#include "cli/runs/confirm_optimum.h"
#include "cli/runs/failed_runs.h"
#include "cli/runs/program_check.h"
#include "cli/runs/run_options.h"
#include "cli/runs/search_directory.h"
#include "cli/terminal/terminal.h"
#include "runner/loop/progress_printer.h"
#include "runner/loop/run_study.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "study/file/yaml.h"
#include "surfaces/optimum.h"
#include "tuning/proposal.h"
#include "tuning/study_search.h"
#include "tuning/utility.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

constexpr int kPatience = 3;  ///< proposals in a row with a small expected gain

struct Search {
  int budget = 0;  ///< number of runs, with those that confirm
  int batch = 1;
  double tolerance = 0;  ///< an expected gain that is worth no run, as a fraction of the best
  int confirm_runs = 0;  ///< at the optimum, and as many at the baseline
  int confirmation = 0;  ///< runs in all that confirm
};

/// The number of runs that the search may still make, before those that confirm.
int runs_left(const Search& search, const study::StudyDirectory& directory) {
  return search.budget - search.confirmation - static_cast<int>(directory.plan.runs.size());
}

/// Whether a search ended before and was confirmed, or not.
bool was_confirmed(const study::StudyDirectory& directory) {
  const auto& runs = directory.plan.runs;
  return std::any_of(runs.begin(), runs.end(), [](const study::PlannedRun& run) {
    return run.type == doe::PointType::kConfirmation;
  });
}

/// Confirmation takes at most a quarter of the budget.
Search search_of(const Options& options, const study::Study& study) {
  Search search;
  search.budget = search_budget(options, study);
  search.batch = positive_option(options, "batch",
                                 run_options(options).jobs.value_or(study.run.jobs.value_or(1)));
  const std::string tolerance = options.text("tolerance", "0.01");
  search.tolerance = study::parse_number(tolerance).value_or(-1);
  if (search.tolerance < 0) {
    throw UsageError(fmt::format(
        "--tolerance: expected a fraction of the best, such as 0.01, found '{}'", tolerance));
  }
  const int settings = surfaces::baseline_of(study.factors) ? 2 : 1;
  search.confirm_runs = std::min(study.confirmation_runs, search.budget / (4 * settings));
  search.confirmation = settings * search.confirm_runs;
  return search;
}

/// Runs a search until it ends, for a reason.
class SearchLoop {
 public:
  SearchLoop(const Options& options, const Search& search, study::StudyDirectory& directory)
      : search_(search),
        directory_(directory),
        run_(run_options(options)),
        launcher_(make_launcher(options, directory)),
        problem_(tuning::problem_of(directory.study)),
        printer_(directory.study, runner::ProgressOutput::of(stderr)) {
    // A search that ended once needs no more proof that little is to be gained.
    if (was_confirmed(directory)) small_gains_ = kPatience - 1;
  }

  /// Makes the runs that are planned, then those that are proposed.
  void run() {
    while (make_planned_runs() && propose()) {
    }
  }

  bool interrupted() const { return interrupted_; }
  bool gave_up() const { return gave_up_; }
  const std::string& reason() const { return reason_; }

 private:
  /// Returns whether the search can go on.
  bool make_planned_runs() {
    const runner::RunSummary summary =
        runner::run_study(directory_, run_, *launcher_, printer_, interrupts_);
    printer_.clear();
    interrupted_ = summary.interrupted;
    gave_up_ = summary.gave_up;
    observe();
    return !interrupted_ && !gave_up_;
  }

  /// Reads what has been measured.
  void observe() {
    const auto records = study::final_records(study::read_journal(directory_).records);
    so_far_ = tuning::observations_of(directory_, records);
    problem_ = open_problem(directory_, records);
    const auto best = tuning::best_measured(problem_, so_far_);
    if (best && so_far_[*best].settings != best_) {
      best_ = so_far_[*best].settings;
      print_message("  best so far: {}, {}\n",
                    analysis::settings_text(directory_.study.factors, best_),
                    values_text(so_far_[*best]));
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

  /// Adds the next runs; returns false, with the reason, if there are none that are worth it.
  bool propose() {
    const int left = runs_left(search_, directory_);
    if (left < 1)
      return ends(
          fmt::format("{} of {} runs are made", directory_.plan.runs.size(), search_.budget));
    const auto proposals = tuning::next_runs(problem_, so_far_, std::min(left, search_.batch));
    if (proposals.empty()) return ends("every configuration has been tried");
    const bool is_small = proposals.front().gain && *proposals.front().gain < search_.tolerance;
    small_gains_ = is_small ? small_gains_ + 1 : 0;
    if (small_gains_ >= kPatience) {
      return ends(
          fmt::format("another run is expected to gain {:.1f} %", 100 * *proposals.front().gain));
    }
    study::extend_directory(directory_, tuning::with_proposals(directory_.plan, proposals));
    for (const tuning::Proposal& proposal : proposals) say(proposal);
    return true;
  }

  void say(const tuning::Proposal& proposal) const {
    const std::string completes =
        fmt::format("{:.0f} % likely to complete", 100 * proposal.completes);
    const std::string meets =
        fmt::format("{:.0f} % to meet the limits", 100 * proposal.meets_limits);
    std::string why;
    if (proposal.explores) {
      why = "far from all runs, " + completes;
    } else if (proposal.gain) {
      why = fmt::format("expected gain {:.1f} %, {}{}", 100 * *proposal.gain, completes,
                        has_limits() ? " and " + meets : "");
    } else {
      why = fmt::format("no run meets the limits yet; {} and {}", completes, meets);
    }
    print_message("next: {} ({})\n",
                  analysis::settings_text(directory_.study.factors, proposal.settings), why);
  }

  bool has_limits() const {
    return std::any_of(
        problem_.objectives.begin(), problem_.objectives.end(),
        [](const tuning::Objective& objective) { return objective.goal.is_limit(); });
  }

  bool ends(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  const Search& search_;
  study::StudyDirectory& directory_;
  runner::RunOptions run_;
  std::unique_ptr<runner::Launcher> launcher_;
  tuning::Problem problem_;
  runner::ProgressPrinter printer_;
  runner::SignalInterrupts interrupts_;
  std::vector<tuning::Observation> so_far_;
  tuning::Settings best_;
  int small_gains_ = 0;  ///< proposals in a row with a small expected gain
  bool interrupted_ = false;
  bool gave_up_ = false;
  std::string reason_;
};

/// Searches and confirms; as long as that fails and there are runs left, goes on.
int tune_directory(const Options& options, study::StudyDirectory& directory) {
  const Search search = search_of(options, directory.study);
  int code = kRunsMissing;
  while (true) {
    const std::size_t before = directory.plan.runs.size();
    SearchLoop loop(options, search, directory);
    loop.run();
    if (loop.interrupted()) return conclude_interrupted(directory, "tune");
    if (loop.gave_up()) {
      const auto records = study::final_records(study::read_journal(directory).records);
      print_message("The search gave up: no run has worked\n{}", failures_text(directory, records));
      return kRunsMissing;
    }
    print_message("The search ends: {}\n", loop.reason());
    if (search.confirm_runs < 1 ||
        (runs_left(search, directory) < 0 && !was_confirmed(directory))) {
      say_next(fmt::format("doetune confirm {}", study::shell_quoted(directory.path.string())));
      return kDone;
    }
    code = confirm_optimum(options, directory, search.confirm_runs, "tune");
    const bool may_go_on = code == kNotConfirmed && runs_left(search, directory) > 0;
    if (!may_go_on || directory.plan.runs.size() == before) return code;
  }
}

}  // namespace

void describe_tune(Options& options) {
  const auto number = [] { return po::value<int>()->value_name("N"); };
  options.add()("batch", number(),
                "number of runs to propose at a time (as many as run concurrently)")(
      "tolerance", po::value<std::string>()->value_name("GAIN"),
      "stop when another run is expected to gain less than this fraction of the best (0.01)");
  add_run_options(options);
  add_search(options);
}

int command_tune(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  study::StudyDirectory directory = search_directory(options, Executes::kDoetune);
  try {
    return tune_directory(options, directory);
  } catch (const runner::RunError& error) {
    report_with_location(directory.study, error);
  }
}

}  // namespace doetune::cli
