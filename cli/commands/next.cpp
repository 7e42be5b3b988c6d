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
#include "tuning/search.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

using tuning::NextRun;

std::optional<double> gain_of(const NextRun& next) {
  return next.proposal ? next.proposal->gain : std::nullopt;
}

std::optional<double> completes(const NextRun& next) {
  return next.proposal ? std::optional(next.proposal->completes) : std::nullopt;
}

struct NextRuns {
  const study::StudyDirectory* directory;
  std::vector<NextRun> runs;
};

json::Format<NextRuns> next_format(const std::vector<doe::Factor>& factors = {}) {
  const auto settings = [](const NextRun& next) { return next.run.settings; };
  const auto run = json::object<NextRun>({{"run", [](const NextRun& next) { return next.run.run; }},
                                          {"settings", settings, reports::settings_format(factors)},
                                          {"expected_gain", gain_of},
                                          {"completes", completes}});
  return json::document<NextRuns>(
      {{"directory", [](const NextRuns& next) { return next.directory->path; }},
       {"runs", &NextRuns::runs, run}});
}

void print_next(const NextRuns& next) {
  for (const NextRun& run : next.runs) {
    const auto gain = gain_of(run);
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
  const bool front = searches_front(options, directory.study);
  const NextRuns next{&directory, tuning::next_planned_runs(directory, batch, front)};
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
