#include <fmt/format.h>

#include "cli/commands/commands.h"
#include "cli/options/run_options.h"
#include "cli/options/study_argument.h"
#include "cli/runs/confirm_optimum.h"
#include "cli/runs/execute_in_study.h"
#include "study/directory/patience.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

int confirm_study(const Options& options, study::StudyDirectory& directory) {
  const int runs = options.integer("runs", directory.study.confirmation_runs);
  if (runs < 1)
    throw UsageError(fmt::format("--runs: expected an integer of at least 1, found '{}'", runs));
  // What nobody has to wait for.
  if (options.has("dry-run") || !can_be_confirmed(directory))
    return confirm_optimum(options, directory, runs, "confirm");
  const auto hold = study::hold_when_free(directory);
  return confirm_optimum(options, directory, runs, "confirm");
}

}  // namespace

void describe_confirm(Options& options) {
  options.add()(
      "runs,n", po::value<int>()->value_name("N"),
      "number of runs at the optimum, and also at the baseline, instead of the study's (5)");
  add_run_options(options);
  options.add()("dry-run", "print what would be executed, where, and at what cost");
  add_directory(options);
}

int command_confirm(const Command& command, const Arguments& arguments) {
  Options options(command);
  return options.parse(arguments) ? execute_in_study(options, confirm_study) : kDone;
}

}  // namespace doetune::cli
