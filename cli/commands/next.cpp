#include <fmt/format.h>

#include "analysis/reference_point.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/runs/search_directory.h"
#include "cli/terminal/terminal.h"
#include "reports/json/json_parts.h"
#include "study/argument_template.h"
#include "study/directory/journal.h"
#include "tuning/study_search.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

/// A run to make, and if it was just proposed, why.
struct NextRun {
  study::PlannedRun run;
  std::optional<tuning::Proposal> proposal;

  std::optional<double> gain() const { return proposal ? proposal->gain : std::optional<double>(); }
  std::optional<double> completes() const {
    return proposal ? std::optional(proposal->completes) : std::nullopt;
  }
};

struct NextRuns {
  const study::StudyDirectory* directory;
  std::vector<NextRun> runs;
};

json::Format<NextRuns> next_format(const std::vector<doe::Factor>& factors = {}) {
  const auto settings = [](const NextRun& next) { return next.run.settings; };
  const auto run = json::object<NextRun>({{"run", [](const NextRun& next) { return next.run.run; }},
                                          {"settings", settings, reports::settings_format(factors)},
                                          {"expected_gain", &NextRun::gain},
                                          {"completes", &NextRun::completes}});
  return json::document<NextRuns>(
      {{"directory", [](const NextRuns& next) { return next.directory->path; }},
       {"runs", &NextRuns::runs, run}});
}

/// Runs of the plan that have not been recorded, at most so many.
std::vector<NextRun> pending_runs(const study::StudyDirectory& directory,
                                  const std::map<int, study::RunRecord>& records, int most) {
  std::vector<NextRun> pending;
  for (const study::PlannedRun& run : directory.plan.runs) {
    if (static_cast<int>(pending.size()) == most) break;
    if (!records.contains(run.run)) pending.push_back({run, {}});
  }
  return pending;
}

/// Adds proposals to the plan.
std::vector<NextRun> proposed_runs(study::StudyDirectory& directory,
                                   const std::map<int, study::RunRecord>& records, int batch) {
  const auto proposals = tuning::next_runs(open_problem(directory, records),
                                           tuning::observations_of(directory, records), batch);
  const std::size_t before = directory.plan.runs.size();
  if (!proposals.empty()) {
    study::extend_directory(directory, tuning::with_proposals(directory.plan, proposals));
  }
  std::vector<NextRun> runs;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    runs.push_back({directory.plan.runs[before + i], proposals[i]});
  }
  return runs;
}

void print_next(const NextRuns& next) {
  for (const NextRun& run : next.runs) {
    const auto gain = run.gain();
    fmt::print("run {}: {}{}\n", run.run.run,
               analysis::settings_text(next.directory->study.factors, run.run.settings),
               gain ? fmt::format(" (expected gain {:.1f} %)", 100 * *gain) : "");
  }
  if (next.runs.empty()) fmt::print("every configuration has been tried\n");
}

}  // namespace

json::Schema next_schema() { return next_format().schema; }

void describe_next(Options& options) {
  options.add()("batch", po::value<int>()->value_name("N"), "number of runs (1)");
  add_search(options);
}

int command_next(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const int batch = positive_option(options, "batch", 1);
  study::StudyDirectory directory = search_directory(options, Executes::kUser);
  const auto records = study::final_records(study::read_journal(directory).records);
  NextRuns next{&directory, pending_runs(directory, records, batch)};
  if (next.runs.empty()) next.runs = proposed_runs(directory, records, batch);
  if (options.json()) {
    fmt::print("{}", next_format(directory.study.factors).text(next));
  } else {
    print_next(next);
  }
  const std::string path = study::shell_quoted(directory.path.string());
  say_next(next.runs.empty()
               ? "doetune report " + path
               : fmt::format("doetune tell {} --run {} ...", path, next.runs.front().run.run));
  return kDone;
}

}  // namespace doetune::cli
