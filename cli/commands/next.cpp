#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/reference_point.h"
#include "analysis/verdict.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/search_options.h"
#include "cli/runs/front_of_goals.h"
#include "cli/runs/search_directory.h"
#include "cli/terminal/print_verdict.h"
#include "cli/terminal/terminal.h"
#include "reports/json/json_parts.h"
#include "study/argument_template.h"
#include "study/directory/patience.h"
#include "tuning/search.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

using tuning::NextRun;
using tuning::NextRuns;

std::optional<double> gain_of(const NextRun& next) {
  return next.proposal ? next.proposal->gain : std::nullopt;
}

std::optional<double> completes(const NextRun& next) {
  return next.proposal ? std::optional(next.proposal->completes) : std::nullopt;
}

/// The answer of the command.
struct Next {
  const study::StudyDirectory& directory;
  NextRuns steps;
  std::optional<analysis::Verdict> verdict;  ///< once the search is over, unless for a front
};

/// Whether all runs have been made.
bool is_over(const NextRuns& steps) { return steps.runs.empty() && !steps.gave_up; }

/// What the search has found, once it is over.
std::optional<analysis::Verdict> verdict_of(const study::StudyDirectory& directory,
                                            const NextRuns& steps) {
  if (!is_over(steps)) return std::nullopt;
  if (study::read_search_state(directory.path).front) return std::nullopt;
  return analysis::verdict(analysis::analyse(directory));
}

json::Format<Next> next_format(const std::vector<doe::Factor>& factors = {}) {
  const auto settings = [](const NextRun& next) { return next.run.settings; };
  const auto type = [](const NextRun& next) { return doe::point_type_name(next.run.type); };
  const auto run = json::object<NextRun>({{"run", [](const NextRun& next) { return next.run.run; }},
                                          {"point_type", type},
                                          {"settings", settings, reports::settings_format(factors)},
                                          {"expected_gain", gain_of},
                                          {"completes", completes}});
  return json::document<Next>({{"directory", [](const Next& next) { return next.directory.path; }},
                               {"runs", [](const Next& next) { return next.steps.runs; }, run},
                               {"end?", [](const Next& next) { return next.steps.end; }},
                               {"verdict?", &Next::verdict, reports::verdict_format()}});
}

std::string remark(const NextRun& next) {
  if (next.run.validates()) return fmt::format(" ({})", doe::point_type_name(next.run.type));
  const auto gain = gain_of(next);
  return gain ? fmt::format(" (expected gain {:.1f} %)", 100 * *gain) : "";
}

void print_next(const Next& next) {
  const NextRuns& steps = next.steps;
  if (!steps.end.empty()) fmt::print("The search has ended: {}\n", steps.end);
  if (next.verdict) print_verdict(*next.verdict);
  for (const NextRun& run : steps.runs) {
    fmt::print("run {}: {}{}\n", run.run.run,
               analysis::settings_text(next.directory.study.factors, run.run.settings),
               remark(run));
  }
}

std::string next_command(const Next& next) {
  const std::string path = study::shell_quoted(next.directory.path.string());
  const auto& runs = next.steps.runs;
  if (!runs.empty()) return fmt::format("doetune tell {} --run {} ...", path, runs.front().run.run);
  if (next.steps.gave_up) return fmt::format("doetune tell {} --run 1 ...", path);
  return "doetune report " + path;
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
  const NextRuns steps = study::when_free([&] {
    directory = study::open_directory(directory.path);  // others may have added runs
    const auto given =
        limits_given(options, directory.study, study::read_search_state(directory.path));
    return tuning::next_of_search(directory, tuning::search_limits(directory.study, given), batch);
  });
  const Next next{directory, steps, verdict_of(directory, steps)};
  if (options.json()) {
    fmt::print("{}", next_format(directory.study.factors).text(next));
  } else {
    print_next(next);
  }
  if (is_over(steps) && !next.verdict && !options.json()) {
    conclude_front(directory, false);
  } else {
    say_next(next_command(next));
  }
  return steps.gave_up ? kRunsMissing : kDone;
}

}  // namespace doetune::cli
