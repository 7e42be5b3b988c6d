#include "cli/runs/program_check.h"

#include <fmt/format.h>

#include <set>

#include "runner/attempts/request.h"
#include "runner/attempts/workload.h"
#include "runner/loop/planned_attempts.h"
#include "study/argument_template.h"

namespace doetune::cli {

namespace {

void check_runs(const study::StudyDirectory& planned, Programs programs) {
  const study::Study& study = planned.study;
  if (!study.workload.empty()) {
    std::vector<std::string> mistakes;
    for (const runner::NameProblem& problem : runner::check_names(
             study, runner::describe_workload(runner::find_workload(study.workload)))) {
      mistakes.push_back(fmt::format("{}: {}", study.location(problem.key), problem.message));
    }
    if (!mistakes.empty()) throw study::StudyError(fmt::format("{}", fmt::join(mistakes, "\n")));
  }
  if (programs == Programs::kElsewhere) {
    runner::check_attempts_elsewhere(planned);
    return;
  }
  const auto launcher = runner::make_launcher(
      study.run.launcher, {study.name, std::filesystem::absolute(planned.path), study.run});
  runner::check_attempts(planned, *launcher);
}

/// The names of the placeholders in the arguments of the command, and of what sets up its server.
std::set<std::string> names_in_command(const study::Study& study) {
  const std::vector<std::string> of_server = runner::server_names(study);
  std::set<std::string> names = study::names_in(study.command);
  names.insert(of_server.begin(), of_server.end());
  return names;
}

}  // namespace

std::vector<std::string> notes_on_command(const study::Study& study) {
  if (study.command.empty()) return {};  // a bundled workload reads all
  const std::set<std::string> passed = names_in_command(study);
  std::vector<std::string> forgotten;
  for (const std::string& factor : study.factor_names()) {
    if (passed.count(factor) == 0) forgotten.push_back(factor);
  }
  const bool passes_any = forgotten.size() < study.factors.size();
  if (!passes_any || passed.count("request") > 0) return {};
  for (std::string& factor : forgotten) {
    factor = fmt::format(
        "note: '{}' is not among the arguments of the command; the program can read it from the "
        "file that DOETUNE_REQUEST names",
        factor);
  }
  return forgotten;
}

void check_program(const study::StudyDirectory& planned, Programs programs) {
  const study::Study& study = planned.study;
  if (!study.has_program()) {
    throw study::StudyError(fmt::format(
        "{}: nothing to run: give the study a workload or a command, or make the runs "
        "yourself with `doetune next` and `doetune tell` (`doetune import` imports runs "
        "made elsewhere)",
        study.file.string()));
  }
  try {
    check_runs(planned, programs);
  } catch (const runner::RunError& error) {
    report_with_location(study, error);
  }
}

void report_with_location(const study::Study& study, const runner::RunError& error) {
  if (error.key.empty()) throw study::StudyError(error.what());
  throw study::StudyError(fmt::format("{}: {}", study.location(error.key), error.what()));
}

}  // namespace doetune::cli
