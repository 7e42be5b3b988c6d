#include "runner/launchers/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/hash.h"
#include "runner/attempts/command.h"
#include "runner/launchers/remote_program.h"
#include "runner/processes/output_text.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/argument_template.h"

namespace doetune::runner {
namespace {

std::string suffix_of(const std::filesystem::path& directory) {
  return "." + text_hash(directory.lexically_normal().string());
}

}  // namespace

bool is_of_study(const std::string& job_name, const std::filesystem::path& study) {
  return job_name.ends_with(suffix_of(study));
}

std::string slurm_job_name(const std::string& attempt, const std::filesystem::path& study) {
  std::string name = attempt + suffix_of(study);
  for (char& c : name) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-';
    if (!plain) c = '_';
  }
  return name;
}

int slurm_minutes(double seconds) {
  constexpr double kMax = 1e6;  // about two years
  return static_cast<int>(std::clamp(std::ceil(seconds / 60), 1.0, kMax));
}

void check_slurm(std::string_view launcher, const study::RunSettings& run,
                 const SlotOptions& options) {
  for (const char* client : {"sbatch", "squeue", "scancel", "scontrol", "srun"}) {
    if (!in_path(client).empty()) continue;
    throw RunError(
        fmt::format("the launcher {} needs Slurm's client {}, which is not in PATH: install it "
                    "(Debian: slurm-client), or run on this machine with run.launcher: local",
                    launcher, client),
        "run.launcher");
  }
  // `scontrol ping` returns at once, even if the controller does not answer.
  const CommandResult ping = run_command({in_path("scontrol"), {"scontrol", "ping"}});
  for (const std::string* words : {&ping.errors, &ping.output}) {
    if (words->find("configuration source") == std::string::npos) continue;
    throw RunError(
        fmt::format("Slurm's client programs find no configuration on this machine ({}): run "
                    "doetune on a login node of the cluster, or set SLURM_CONF",
                    printable(last_line(*words))),
        "run.launcher");
  }
  if (!options.gpus.empty()) {
    throw RunError(fmt::format(
        "--gpus is for launchers where doetune assigns GPUs; with {}, Slurm assigns them",
        launcher));
  }
  if (run.runs_per_gpu > 1 && run.slurm.gres.empty()) {
    throw RunError(fmt::format("with {}, only Slurm can let runs share a GPU: instead of "
                               "run.runs_per_gpu set run.slurm.gres, e.g. shard:1",
                               launcher),
                   "run.runs_per_gpu");
  }
  attempt_program(run.slurm.program, "run.slurm.program");
}

std::vector<std::string> sbatch_head(const std::string& job_name, const study::RunSettings& run,
                                     double limit_s, const std::string& tasks, int gpus) {
  const study::SlurmSettings& slurm = run.slurm;
  std::vector<std::string> arguments{"sbatch",
                                     "--parsable",
                                     "--no-requeue",
                                     "--job-name=" + job_name,
                                     "--chdir=/",
                                     "--output=/dev/null",
                                     fmt::format("--time={}", slurm_minutes(limit_s)),
                                     fmt::format("--nodes={}", slurm.nodes),
                                     tasks};
  if (!slurm.partition.empty()) arguments.push_back("--partition=" + slurm.partition);
  if (!slurm.account.empty()) arguments.push_back("--account=" + slurm.account);
  if (!slurm.gres.empty()) {
    arguments.push_back("--gres=" + slurm.gres);
  } else if (gpus > 0) {
    arguments.push_back(fmt::format("--gres=gpu:{}", gpus));
  }
  return arguments;
}

std::vector<std::string> sbatch_arguments(const Attempt& attempt, const std::string& job_name,
                                          const study::RunSettings& run,
                                          const std::filesystem::path& program,
                                          const std::set<std::string>& excluded_nodes) {
  const study::SlurmSettings& slurm = run.slurm;
  const double limit_s =
      slurm.time_limit_s.value_or(attempt.time_limit_s + attempt.stop_grace_s + kSlurmMargin_s);
  const std::string tasks = fmt::format("--ntasks={}", std::max(attempt.processes, 1));
  std::vector<std::string> arguments =
      sbatch_head(job_name, run, limit_s, tasks, attempt.gpus_wanted);
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) arguments.push_back(fmt::format("--{}={}", option, value));
  };
  if (run.cpus_per_run) add("cpus-per-task", fmt::format("{}", *run.cpus_per_run));
  if (attempt.memory_limit_bytes) {
    const double mebibytes = static_cast<double>(*attempt.memory_limit_bytes) / (1 << 20);
    add("mem", fmt::format("{:.0f}M", std::ceil(mebibytes / slurm.nodes)));
  }
  add("exclude", fmt::format("{}", fmt::join(excluded_nodes, ",")));
  arguments.insert(arguments.end(), slurm.options.begin(), slurm.options.end());
  // Slurm's own redirection would interpret % in the path.
  arguments.push_back("--wrap");
  arguments.push_back(fmt::format("exec {} {} >{} 2>&1", study::shell_quoted(program.string()),
                                  study::shell_quoted(attempt.directory.string()),
                                  study::shell_quoted((attempt.directory / "log").string())));
  return arguments;
}

void add_rank_settings(Attempt& attempt, const study::RunSettings& run) {
  attempt.environment.try_emplace("OMPI_MCA_mpi_yield_when_idle", "1");
  attempt.environment.try_emplace("SLURM_KILL_BAD_EXIT", "1");
  if (run.cpus_per_run) {
    attempt.environment.try_emplace("SRUN_CPUS_PER_TASK", fmt::format("{}", *run.cpus_per_run));
  }
}

}  // namespace doetune::runner
