#include "runner/attempts/attempt_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "runner/attempts/workload.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"

namespace doetune::runner {
namespace {

constexpr double kBetweenRuns_s = 120;  ///< for hooks, retries and a scheduler's delays

/// More time than a server needs for the runs of a whole plot, all retried and at their limits:
/// what a scheduler is asked for.
double server_limit_s(const study::RunSettings& run, const study::Plan& plan, int whole_plot) {
  const auto runs = std::count_if(plan.runs.begin(), plan.runs.end(), [&](const auto& other) {
    return other.whole_plot == whole_plot;
  });
  const double attempts = whole_plot == 0 ? 1 : static_cast<double>(runs);
  const int retries = std::max({run.retries.failed, run.retries.timed_out, run.retries.lost});
  const double each_s = run.timeout_s + run.stop_grace_s + kBetweenRuns_s;
  return run.server.ready_within_s + attempts * (1 + retries) * each_s;
}

}  // namespace

AttemptMaker::AttemptMaker(const study::StudyDirectory& directory, std::string_view ranks,
                           bool programs_here)
    : directory_(directory),
      study_(directory.study),
      ranks_(study_.run.ranks.empty() ? ranks : study_.run.ranks),
      programs_here_(programs_here) {
  if (!study_.has_program()) {
    throw RunError(
        "the study has neither a workload nor a command: make its runs yourself, with `doetune "
        "next` and `doetune tell`");
  }
  if (study_.command.empty()) workload_ = find_workload(study_.workload);
}

std::filesystem::path AttemptMaker::path(int run, int number) const {
  std::error_code error;
  const auto path = std::filesystem::absolute(directory_.attempt(run, number), error);
  if (error) {
    throw study::DirectoryError(
        fmt::format("{}: cannot be resolved, because the current directory no longer exists ({})",
                    directory_.path.string(), error.message()));
  }
  return path;
}

Attempt AttemptMaker::make(const study::PlannedRun& run, int number, const Slot& slot) {
  Attempt attempt;
  attempt.name = fmt::format("{}.{}.{}", study_.name, run.run, number);
  attempt.directory = path(run.run, number);
  attempt.working_directory = directory_.working_directory;
  if (study_.command.empty()) {
    attempt.arguments = {workload_.string()};
    attempt.program = workload_;
  } else {
    attempt.arguments = fill_command(study_, run, number, attempt.directory, slot.server);
    attempt.program = program(attempt.arguments.front());
  }
  if (study_.search) search_in(attempt);
  attempt.environment = attempt_environment(study_, attempt.directory, slot);
  set_resources(attempt, slot);
  if (slot.server) attempt.server = slot.server->directory;
  if (!slot.server) attempt.gpus_wanted = count_in(study_.run.gpus_per_run, study_, run);
  attempt.time_limit_s = study_.run.timeout_s;
  attempt.hang_after_s = study_.run.hang_after_s;
  if (study_.run.processes) {
    attempt.processes = count_in(*study_.run.processes, study_, run);
    start_in_ranks(attempt);
  }
  return attempt;
}

Attempt AttemptMaker::make_server(const study::PlannedRun& run, const std::string& name,
                                  const std::filesystem::path& directory, const Slot& slot) {
  Attempt attempt;
  attempt.name = name;
  attempt.directory = directory;
  attempt.working_directory = directory_.working_directory;
  attempt.arguments = fill_arguments(study_.run.server.set_up, "run.set_up",
                                     plot_placeholders(study_, run, slot.server));
  attempt.program = program(attempt.arguments.front());
  attempt.environment = program_environment(study_, slot);
  set_resources(attempt, slot);
  attempt.gpus_wanted = count_in(study_.run.gpus_per_run, study_, run);
  if (study_.run.processes) attempt.processes = count_in(*study_.run.processes, study_, run);
  attempt.time_limit_s = server_limit_s(study_.run, directory_.plan, run.whole_plot);
  return attempt;
}

void AttemptMaker::set_resources(Attempt& attempt, const Slot& slot) const {
  attempt.host = slot.host;
  attempt.gpus = slot.gpus;
  attempt.cpus = slot.cpus;
  attempt.stop_grace_s = study_.run.stop_grace_s;
  attempt.memory_limit_bytes = study_.run.memory_limit_bytes;
  attempt.telemetry_hz = study_.run.telemetry_hz;
}

/// Starts `mpirun -n 4 PROGRAM ...` instead of `PROGRAM ...`. More ranks than processors are
/// permitted if the user asks for them, and root is, as in a container: Open MPI is told so through
/// its environment, since other MPIs do not have the options.
void AttemptMaker::start_in_ranks(Attempt& attempt) {
  std::vector<std::string> arguments{ranks_, "-n", fmt::format("{}", attempt.processes)};
  arguments.push_back(attempt.program.string());
  arguments.insert(arguments.end(), attempt.arguments.begin() + 1, attempt.arguments.end());
  attempt.arguments = std::move(arguments);
  attempt.program = program(ranks_);
  for (const char* name : {"OMPI_MCA_rmaps_base_oversubscribe", "OMPI_ALLOW_RUN_AS_ROOT",
                           "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    attempt.environment.try_emplace(name, "1");
  }
}

/// Starts doetune-search, which starts the program several times, instead of the program.
void AttemptMaker::search_in(Attempt& attempt) {
  attempt.program = program_beside("doetune-search");
  if (!is_executable(attempt.program)) {
    throw RunError(fmt::format("{}, which searches for the largest load, does not exist; build it",
                               attempt.program.string()),
                   "factors." + study_.search->load.name);
  }
  attempt.arguments = {attempt.program.string(), attempt.directory.string()};
}

const std::filesystem::path& AttemptMaker::program(const std::string& name) {
  auto found = programs_.find(name);
  if (found == programs_.end()) {
    const auto file = programs_here_ ? find_program(name, directory_.working_directory,
                                                    search_path(study_.run.environment))
                                     : std::filesystem::path(name);
    found = programs_.emplace(name, file).first;
  }
  return found->second;
}

}  // namespace doetune::runner
