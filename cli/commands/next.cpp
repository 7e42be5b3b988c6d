#include <fmt/format.h>

#include "analysis/reference_point.h"
#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/search_options.h"
#include "cli/runs/search_directory.h"
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
};

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
                               {"end?", [](const Next& next) { return next.steps.end; }}});
}

std::string remark(const NextRun& next) {
  if (next.run.validates()) return fmt::format(" ({})", doe::point_type_name(next.run.type));
  const auto gain = gain_of(next);
  return gain ? fmt::format(" (expected gain {:.1f} %)", 100 * *gain) : "";
}

void print_next(const Next& next) {
  const auto& [runs, end] = next.steps;
  if (!end.empty()) fmt::print("The search has ended: {}\n", end);
  for (const NextRun& run : runs) {
    fmt::print("run {}: {}{}\n", run.run.run,
               analysis::settings_text(next.directory.study.factors, run.run.settings),
               remark(run));
  }
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
  const Next next{directory, steps};
  if (options.json()) {
    fmt::print("{}", next_format(directory.study.factors).text(next));
  } else {
    print_next(next);
  }
  const std::string path = study::shell_quoted(directory.path.string());
  const auto& runs = next.steps.runs;
  say_next(runs.empty() ? "doetune report " + path
                        : fmt::format("doetune tell {} --run {} ...", path, runs.front().run.run));
  return kDone;
}

}  // namespace doetune::cli
