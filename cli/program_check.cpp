#include "cli/program_check.h"

#include <fmt/format.h>

#include "runner/run_error.h"
#include "runner/run_study.h"
#include "runner/workload.h"

namespace doetune::cli {

namespace {

void check_runs(const study::StudyDirectory& planned) {
  const study::Study& study = planned.study;
  if (!study.workload.empty()) {
    std::vector<std::string> mistakes;
    for (const runner::NameProblem& problem : runner::check_names(
             study, runner::describe_workload(runner::find_workload(study.workload)))) {
      mistakes.push_back(fmt::format("{}: {}", study.place(problem.key), problem.message));
    }
    if (!mistakes.empty()) throw study::StudyError(fmt::format("{}", fmt::join(mistakes, "\n")));
  }
  const auto launcher = runner::make_launcher(
      study.run.launcher, {study.name, std::filesystem::absolute(planned.path), study.run});
  runner::check_attempts(planned, *launcher);
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
    throw study::StudyError(fmt::format("{}: {}", study.place(error.key), error.what()));
  }
}

}  // namespace doetune::cli
