// How runs are executed: the section `run:` of a study file as a typed value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace doetune::study {

/// A number that is the same for every run, or the factor whose setting gives it.
struct Count {
  int fixed = 0;
  std::string factor;  ///< empty: `fixed` for every run
};

/// Maximum number of retries, by how the attempt ended. An infeasible run and one that the user
/// stopped are never retried automatically.
struct Retries {
  int failed = 1;
  int timed_out = 1;
  int lost = 3;          ///< the machine became unavailable, which says nothing about the run
  double backoff_s = 0;  ///< before the first retry of a run; doubled for each further one
};

/// kFirstThree: stop if the first three runs of a plan fail in the same way.
enum class OnFailure { kFirstThree, kContinue, kStop };
enum class Outliers { kFlag, kRerun };

/// `run.ssh.stage`, `run.slurm.stage`: a folder of each machine that executes runs, for those that
/// do not share the study directory.
struct StageSettings {
  std::string to;                  ///< absolute
  std::vector<std::string> files;  ///< to copy there, relative to the folder of the study file
};

/// `run.slurm`: what is requested from Slurm.
struct SlurmSettings {
  std::string partition;
  std::string account;
  std::string gres;                    ///< replaces gpu:N as the request for the GPUs of a run
  std::optional<double> time_limit_s;  ///< of a job; default: the time limit of an attempt plus
                                       ///< time to finish
  std::vector<std::string> options;    ///< further arguments for sbatch
  int nodes = 1;         ///< per run; for slurm-pilot, of the allocation that all runs share
  int max_queued = 100;  ///< maximum number of jobs in the queue
  double poll_s = 5;     ///< interval between queries of the queue
  std::string program;   ///< path of doetune-attempt on the nodes, if it is not the same as here
  std::optional<StageSettings> stage;
};

struct SshHost {
  std::string name;  ///< as passed to the OpenSSH client
  int jobs = 1;      ///< maximum number of concurrent runs
  std::vector<std::string> gpus;
};

/// `run.ssh`: the hosts; without a stage the study directory must have the same path on all of
/// them.
struct SshSettings {
  std::vector<SshHost> hosts;
  std::vector<std::string> options;  ///< options of the client, such as -p 2222
  std::string program;               ///< as in SlurmSettings
  std::optional<StageSettings> stage;
};

/// `run.spark`: the application whose tasks are the runs.
struct SparkSettings {
  std::string master;                ///< empty: as Spark is configured
  std::vector<std::string> options;  ///< further arguments of spark-submit
  std::string submit;                ///< path of spark-submit; empty: from PATH
  std::string program;               ///< as in SlurmSettings
};

/// What is mounted in the pods: a claim, a directory of the node, or memory.
struct KubernetesVolume {
  std::string claim;                         ///< name of a PersistentVolumeClaim
  std::string host_path;                     ///< directory that has this path on every node
  std::optional<std::int64_t> memory_bytes;  ///< size of a file system in memory, for /dev/shm
  std::string mount;                         ///< absolute path in the pod
  bool read_only = false;
};

/// `run.kubernetes`: the Jobs, one for each run.
struct KubernetesSettings {
  std::string image;  ///< has doetune-attempt and the programs of the runs
  std::vector<KubernetesVolume> volumes;
  std::string name_space;            ///< empty: as kubectl is configured
  std::vector<std::string> options;  ///< further arguments of kubectl, such as --context gpus
  std::map<std::string, std::string> resources;  ///< replaces nvidia.com/gpu: N as the request
  std::map<std::string, std::string> node_selector;
  std::vector<std::string> tolerations;   ///< keys of taints
  std::vector<std::string> secrets;       ///< become environment variables of the runs
  std::vector<std::string> pull_secrets;  ///< for the image
  std::string service_account;
  std::string priority_class;
  std::string program;   ///< doetune-attempt in the image; empty: from its PATH
  int max_queued = 100;  ///< maximum number of Jobs that have not ended
  double poll_s = 5;     ///< interval between queries
};

/// `run.set_up` and the keys that go with it: a program, such as a server, that lives through a
/// whole plot. Its runs only use it.
struct ServerSettings {
  std::vector<std::string> set_up;  ///< what starts it, as arguments; empty: runs need no server
  std::string ready_address;        ///< http://HOST:PORT/PATH that answers with 2xx, or
                                    ///< tcp://HOST:PORT that accepts connections
  std::vector<std::string> ready_command;  ///< or a command that ends with 0 once it can be used
  double ready_within_s = 600;             ///< then the attempt to set it up is given up
  std::vector<std::string> tear_down;      ///< command that ends it; empty: SIGTERM
};

/// `run.end_early`: a search ends runs that their progress shows to be clearly worse than others.
struct EndEarlySettings {
  double confidence = 0.99;  ///< with which a run is worse than the best one
  int runs = 5;              ///< completed runs that reported progress, before any is ended
  double after = 0;          ///< the first step of the progress at which a run may be ended
};

struct RunSettings {
  std::string launcher = "local";
  std::optional<int> jobs;  ///< concurrent runs; empty: chosen by the launcher
  double timeout_s = 600;   ///< of one attempt
  double stop_grace_s = 5;  ///< between SIGTERM and SIGKILL
  Retries retries;
  OnFailure on_failure = OnFailure::kFirstThree;
  Outliers outliers = Outliers::kFlag;
  int repeats = 1;                   ///< measurements within a run; passed to the workload
  std::optional<double> warmup_s;    ///< passed to the workload
  std::optional<double> precision;   ///< required half-width of the 95 % interval, relative to the
                                     ///< mean
  std::optional<double> min_time_s;  ///< of the measurement; passed to the workload
  std::optional<double> max_time_s;  ///< of the measurement; passed to the workload
  std::optional<double> hang_after_s;  ///< a run without output and activity for so long is stopped
  std::optional<std::int64_t> memory_limit_bytes;  ///< total over all processes of a run
  Count gpus_per_run;
  int runs_per_gpu = 1;             ///< runs that share a GPU; 1: exclusive use
  std::optional<int> cpus_per_run;  ///< empty: an equal part of the machine's
  std::optional<Count> processes;   ///< number of ranks of the program
  std::string ranks;         ///< what starts them: mpirun, srun; empty: chosen by the launcher
  double telemetry_hz = 10;  ///< sampling rate; 0: no telemetry
  std::optional<double> expected_s;                ///< the user's estimate of the duration of a run
  std::map<std::string, std::string> environment;  ///< set for every run
  std::vector<std::string> after_run;              ///< command run after each attempt; empty: none
  std::vector<std::string> after_all;  ///< command run when `doetune run` ends; empty: none
  std::optional<EndEarlySettings> end_early;
  ServerSettings server;
  SlurmSettings slurm;
  SshSettings ssh;
  SparkSettings spark;
  KubernetesSettings kubernetes;
};

}  // namespace doetune::study
