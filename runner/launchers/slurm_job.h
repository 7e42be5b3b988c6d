// Maps one attempt to a Slurm job: its name and the arguments of sbatch.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attempts/attempt.h"
#include "runner/launchers/launcher.h"
#include "study/run_settings.h"

namespace doetune::runner {

/// Unique for a study directory, so that studies of the same name do not collide in the queue: the
/// attempt's name and a hash of the directory's path. Jobs are not identified by number, since
/// Slurm may reuse numbers after a crash of its controller.
std::string slurm_job_name(const std::string& attempt, const std::filesystem::path& study);

/// Whether a job has the name of an attempt in this study directory.
bool is_of_study(const std::string& job_name, const std::filesystem::path& study);

/// The command that submits the attempt's job; nothing in it is interpreted by a shell.
std::vector<std::string> sbatch_arguments(const Attempt& attempt, const std::string& job_name,
                                          const study::RunSettings& run,
                                          const std::filesystem::path& program,
                                          const std::set<std::string>& excluded_nodes);

/// Throws RunError if the launcher of this name cannot work: missing Slurm clients in PATH or
/// doetune-attempt, or GPU requests that Slurm does not support.
void check_slurm(std::string_view launcher, const study::RunSettings& run,
                 const SlotOptions& options);

/// Arguments common to all jobs: name, limit, nodes, `tasks` ("--ntasks=4"), partition, account and
/// GPUs, or what the study specifies instead.
std::vector<std::string> sbatch_head(const std::string& job_name, const study::RunSettings& run,
                                     double limit_s, const std::string& tasks, int gpus);

/// A duration in minutes for Slurm, rounded up.
int slurm_minutes(double seconds);

/// Additional time for Slurm to start and end a job.
inline constexpr double kSlurmMargin_s = 60;

/// Settings for ranks started by srun: no spinning, since ranks do not know that they share
/// processors; the end of all when one ends with an error; and the processors per rank, which srun
/// takes from sbatch only up to Slurm 21.08. The way they find each other (SLURM_MPI_TYPE) is left
/// to the cluster or the study: that srun lists PMIx does not imply that it can be loaded. The
/// study's own environment takes precedence.
void add_rank_settings(Attempt& attempt, const study::RunSettings& run);

}  // namespace doetune::runner
