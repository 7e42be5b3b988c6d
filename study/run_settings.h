// How runs are executed: the section `run:` of a study file as a typed value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace doetune::study {

/// A whole number for every run, or the factor whose setting it is in each.
struct Count {
  int fixed = 0;
  std::string factor;  ///< empty: `fixed` for every run
};

/// Further attempts after an attempt that was not completed, by how it ended. An infeasible run
/// or one that the user stopped is never tried again by itself.
struct Retries {
  int failed = 1;
  int timed_out = 1;
  int lost = 3;          ///< the machine went away: nothing is said of the run
  double backoff_s = 0;  ///< before the first further attempt of a run; doubled for each more
};

enum class OnFailure { kContinue, kStop };
enum class Outliers { kFlag, kRerun };

/// `run.slurm`: what is asked of Slurm.
struct SlurmSettings {
  std::string partition;
  std::string account;
  std::string gres;                    ///< instead of gpu:N for the GPUs of a run
  std::optional<double> time_limit_s;  ///< of a job; else of an attempt, and room to end
  std::vector<std::string> options;    ///< further arguments of sbatch
  int nodes = 1;         ///< of a run's job; with slurm-pilot of the allocation that all share
  int max_queued = 100;  ///< jobs in the queue at once
  double poll_s = 5;     ///< between two looks at the queue
  std::string program;   ///< doetune-attempt on the nodes, where it is not at the same path
};

struct SshHost {
  std::string name;  ///< as the OpenSSH client knows it
  int jobs = 1;      ///< runs at once
  std::vector<std::string> gpus;
};

/// `run.ssh`: the hosts; the study directory must be at the same path on each of them.
struct SshSettings {
  std::vector<SshHost> hosts;
  std::vector<std::string> options;  ///< of the client, such as -p 2222
  std::string program;               ///< as in SlurmSettings
};

struct RunSettings {
  std::string launcher = "local";
  std::optional<int> jobs;  ///< runs at once; empty: what the launcher thinks right
  double timeout_s = 600;   ///< of one attempt
  double stop_grace_s = 5;  ///< from SIGTERM to SIGKILL
  Retries retries;
  OnFailure on_failure = OnFailure::kContinue;
  Outliers outliers = Outliers::kFlag;
  int repeats = 1;                     ///< measurements inside a run; told to the workload
  std::optional<double> warmup_s;      ///< told to the workload
  std::optional<double> precision;     ///< wanted half-width of the 95 % interval over the mean
  std::optional<double> min_time_s;    ///< of the measurement; told to the workload
  std::optional<double> max_time_s;    ///< of the measurement; told to the workload
  std::optional<double> hang_after_s;  ///< without output and activity: stopped
  std::optional<std::int64_t> memory_limit_bytes;  ///< of all processes of a run
  Count gpus_per_run;
  int runs_per_gpu = 1;              ///< that share a GPU; 1: it is a run's own
  std::optional<int> cpus_per_run;   ///< empty: the machine's, in equal parts
  std::optional<Count> processes;    ///< ranks that the program is started in
  std::string ranks;                 ///< what starts them: mpirun, srun; empty: by the launcher
  double telemetry_hz = 10;          ///< samples a second; 0: none
  std::optional<double> expected_s;  ///< the user's estimate of one run
  std::map<std::string, std::string> environment;  ///< set for every run
  std::vector<std::string> after_run;              ///< command after each attempt; empty: none
  std::vector<std::string> after_all;              ///< command when `doetune run` ends; empty: none
  SlurmSettings slurm;
  SshSettings ssh;
};

}  // namespace doetune::study
