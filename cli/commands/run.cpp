#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/format.h"
#include "base/json_format.h"
#include "base/nearest_name.h"
#include "base/standard_streams.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/live/live_report.h"
#include "cli/options/run_numbers.h"
#include "cli/options/run_options.h"
#include "cli/options/study_argument.h"
#include "cli/runs/dry_run.h"
#include "cli/runs/execute_in_study.h"
#include "cli/runs/failed_runs.h"
#include "cli/runs/outlying_runs.h"
#include "cli/runs/smoke_run.h"
#include "cli/terminal/terminal.h"
#include "runner/loop/planned_attempts.h"
#include "runner/loop/progress_printer.h"
#include "runner/loop/run_study.h"
#include "study/directory/journal.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

json::Format<runner::RunSummary> summary_format(const std::string& directory = "") {
  using runner::RunSummary;
  return json::document<RunSummary>({{"directory", [=](const RunSummary&) { return directory; }},
                                     {&RunSummary::counts, counts_format()},
                                     {"interrupted", &RunSummary::interrupted},
                                     {"gave_up", &RunSummary::gave_up}});
}

std::vector<std::string> retry_words() {
  std::vector<std::string> words{"none"};
  for (const study::RunStatus status : runner::Selection{}.again) {
    words.emplace_back(run_status_name(status));
  }
  return words;
}

/// The statuses to retry; completed and infeasible runs cannot be retried.
std::set<study::RunStatus> parse_statuses(const std::string& text) {
  const std::set<study::RunStatus> allowed = runner::Selection{}.again;
  const std::vector<std::string> names = retry_words();
  std::set<study::RunStatus> statuses;
  for (const std::string& word : split_list(text)) {
    if (word == "none") continue;
    const auto status = study::run_status_from_name(word);
    if (!status || allowed.count(*status) == 0) {
      throw UsageError(
          fmt::format("--retry: unknown value '{}'{}", word, did_you_mean_or_list(word, names)));
    }
    statuses.insert(*status);
  }
  return statuses;
}

/// Explains why there was nothing to do.
void say_why_none(const runner::RunCounts& counts) {
  const std::string planned = analysis::count_of(counts.planned, "run");
  if (counts.decided() == counts.planned) {
    print_message(
        "Nothing to do: all {} have been made{}\n", planned,
        counts.infeasible > 0 ? fmt::format(", {} of them infeasible", counts.infeasible) : "");
  } else {
    print_message("Nothing to do: {} of {} completed, and no others were requested\n",
                  counts.completed, planned);
  }
}

/// Prints what the program printed in the last of the runs that made doetune give up.
void say_what_was_printed(const study::StudyDirectory& directory,
                          const analysis::Records& records) {
  const auto last = std::find_if(records.rbegin(), records.rend(), [](const auto& entry) {
    return entry.second.status == study::RunStatus::kFailed;
  });
  if (last == records.rend()) return;
  const std::string printed = printed_in(directory.attempt(last->first, last->second.attempt));
  if (!printed.empty()) print_message("Last output of run {}:\n{}", last->first, printed);
}

int conclude(const study::StudyDirectory& directory, const runner::RunSummary& summary) {
  const runner::RunCounts& counts = summary.counts;
  if (summary.interrupted) return conclude_interrupted(directory, "run");
  if (summary.attempts == 0) say_why_none(counts);
  if (counts.unsuccessful() > 0 || counts.completed == 0) {
    const auto records = study::final_records(study::read_journal(directory).records);
    print_message("{} of {} completed\n{}", counts.completed,
                  analysis::count_of(counts.planned, "run"), failures_text(directory, records));
    if (summary.gave_up) say_what_was_printed(directory, records);
  }
  say_next(command_after_runs(directory, counts, counts.remaining));
  return counts.decided() == counts.planned ? kDone : kRunsMissing;
}

/// Which runs the options select, but for --rerun. Throws UsageError.
runner::RunOptions selected_runs(const Options& options, const study::StudyDirectory& directory) {
  runner::RunOptions run = run_options(options);
  if (options.has("only") && options.text("only").empty()) {
    throw UsageError("doetune run: --only needs run numbers, e.g. 3,7-9");
  }
  if (options.has("only") && options.has("rerun")) {
    throw UsageError("doetune run: give --only or --rerun, not both");
  }
  run.only = parse_run_numbers("--only", options.text("only"),
                               static_cast<int>(directory.plan.runs.size()));
  if (options.has("retry")) run.again = parse_statuses(options.text("retry"));
  return run;
}

/// Runs an open study according to the options.
int execute_plan(const Options& options, study::StudyDirectory& directory) {
  runner::RunOptions run = selected_runs(options, directory);
  LiveReport live(options, directory);  // before the launcher, which starts threads
  const auto launcher = make_launcher(options, directory);
  if (options.has("rerun")) {
    run.only = add_repeats(directory, runs_to_rerun(options.text("rerun"), directory),
                           options.has("dry-run"));
  }
  if (options.has("dry-run")) {
    const auto planned = runner::planned_attempts(directory, run, *launcher);
    options.json() ? print_dry_run_json(directory, planned) : print_dry_run(directory, planned);
    return kDone;
  }
  remove_left_smoke_runs(directory);  // they would disturb measurements
  runner::ProgressPrinter printer(directory.study, runner::ProgressOutput::of(stderr));
  runner::SignalInterrupts interrupts;
  runner::RunSummary summary = runner::run_study(directory, run, *launcher, printer, interrupts);
  printer.clear();
  if (summary.counts.remaining == 0 && !summary.interrupted) {
    const std::vector<int> again = assess_outlying_runs(directory);
    if (!again.empty()) {
      run.only = add_repeats(directory, again);
      const int before = summary.attempts;
      summary = runner::run_study(directory, run, *launcher, printer, interrupts);
      summary.attempts += before;
      printer.clear();
    }
  }
  if (options.json()) fmt::print("{}", summary_format(directory.path.string()).text(summary));
  return live.finish(conclude(directory, summary));
}

}  // namespace

json::Format<runner::RunCounts> counts_format() {
  using runner::RunCounts;
  return json::object<RunCounts>({{"planned", &RunCounts::planned},
                                  {"completed", &RunCounts::completed},
                                  {"infeasible", &RunCounts::infeasible},
                                  {"ended_early", &RunCounts::ended_early},
                                  {"failed", &RunCounts::failed},
                                  {"timed_out", &RunCounts::timed_out},
                                  {"cancelled", &RunCounts::cancelled},
                                  {"lost", &RunCounts::lost},
                                  {"remaining", &RunCounts::remaining}});
}

json::Schema run_schema() { return json::either({summary_format().schema, dry_run_schema()}); }

void describe_run(Options& options) {
  const auto text = [](const char* value) { return po::value<std::string>()->value_name(value); };
  add_run_options(options);
  options.add()("only", text("RUNS"), "run numbers, e.g. 3,7-9")(
      "rerun", text("RUNS"), "completed runs to measure again, e.g. 3,7-9; both values are used")(
      "retry", text("ENDS"),
      "which unsuccessful runs to retry: failed, timed_out, cancelled, lost (all of them), or "
      "none")("dry-run,n", "print what would be executed, where, and at what cost");
  options.choices("retry", {retry_words(), true});
  add_live(options);
  add_directory(options);
}

int command_run(const Command& command, const Arguments& arguments) {
  Options options(command);
  return options.parse(arguments) ? execute_in_study(options, execute_plan) : kDone;
}

}  // namespace doetune::cli
