#include "cli/program_check.h"

#include <fmt/format.h>

#include "runner/run_study.h"
#include "runner/workload.h"

namespace doetune::cli {

void check_program(const study::StudyDirectory& planned) {
  const study::Study& study = planned.study;
  if (study.workload.empty() && study.command.empty()) return;
  if (!study.workload.empty()) {
    const std::vector<std::string> mistakes = runner::check_names(
        study, runner::describe_workload(runner::find_workload(study.workload)));
    if (!mistakes.empty()) {
      throw study::StudyError(
          fmt::format("{}: {}", study.file.string(), fmt::join(mistakes, "\n")));
    }
  }
  runner::planned_attempts(planned, {});
}

}  // namespace doetune::cli
