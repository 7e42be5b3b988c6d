#include "cli/program_check.h"

#include <fmt/format.h>

#include "runner/run_error.h"
#include "runner/run_study.h"
#include "runner/workload.h"

namespace doetune::cli {

namespace {

void check_runs(const study::StudyDirectory& planned) {
  const study::Study& study = planned.study;
  runner::make_launcher(study.run.launcher);
  if (!study.workload.empty()) {
    const std::vector<std::string> mistakes = runner::check_names(
        study, runner::describe_workload(runner::find_workload(study.workload)));
    if (!mistakes.empty()) {
      throw runner::RunError(
          fmt::format("{}", fmt::join(mistakes, fmt::format("\n{}: ", study.file.string()))));
    }
  }
  runner::planned_attempts(planned, {});
}

}  // namespace

void check_program(const study::StudyDirectory& planned) {
  const study::Study& study = planned.study;
  if (study.workload.empty() && study.command.empty()) {
    throw study::StudyError(fmt::format(
        "{}: nothing to run: give the study a workload or a command (`doetune import` takes runs "
        "made elsewhere)",
        study.file.string()));
  }
  try {
    check_runs(planned);
  } catch (const runner::RunError& error) {
    throw study::StudyError(fmt::format("{}: {}", study.file.string(), error.what()));
  }
}

}  // namespace doetune::cli
