// One attempt as a job of Slurm: its name and the arguments of sbatch.
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

/// Unique for a study directory, so that two studies of one name do not meet in the queue: the
/// attempt's name and a hash of the directory's path. Job numbers are not used to know a job by:
/// Slurm gives them again after a crash of its controller.
std::string slurm_job_name(const std::string& attempt, const std::filesystem::path& study);

/// Whether a job has the name of an attempt in this study directory.
bool is_of_study(const std::string& job_name, const std::filesystem::path& study);

/// The command that submits the attempt's job; nothing in it is left to a shell to interpret.
std::vector<std::string> sbatch_arguments(const Attempt& attempt, const std::string& job_name,
                                          const study::RunSettings& run,
                                          const std::filesystem::path& program,
                                          const std::set<std::string>& excluded_nodes);

/// Throws RunError where a launcher of this name cannot work: no client of Slurm's in PATH, no
/// doetune-attempt, GPUs wanted in a way that Slurm knows nothing of.
void check_slurm(std::string_view launcher, const study::RunSettings& run,
                 const PlaceOptions& options);

/// What all jobs are submitted with: name, limit, nodes, `tasks` ("--ntasks=4"), partition, account
/// and GPUs, or what the study asks for instead of these.
std::vector<std::string> sbatch_head(const std::string& job_name, const study::RunSettings& run,
                                     double limit_s, const std::string& tasks, int gpus);

/// Slurm's minutes for so many seconds: whole ones, rounded up.
int slurm_minutes(double seconds);

/// What Slurm may need, beyond the attempt's own limit, to start and to end it.
inline constexpr double kSlurmRoom_s = 60;

/// For ranks that srun starts: no spinning, for they do not know that they share processors, and
/// the processors of a rank, which srun takes over from sbatch up to Slurm 21.08 only. How they
/// find each other (SLURM_MPI_TYPE) is the cluster's affair, or the study's: that srun lists PMIx
/// does not say that it can load it. What the study's own environment says comes first.
void add_rank_settings(Attempt& attempt, const study::RunSettings& run);

}  // namespace doetune::runner
