#include "cli/files/study_templates.h"

#include <array>

namespace doetune::cli {
namespace {

constexpr std::string_view kInference =
    R"yaml(# What to vary, what to run, and the goals. `doetune schema` prints all keys.
study: my-study
seed: 2026                        # fixes the run order and the workload's data

# A bundled workload (`doetune workloads` lists them) ...
workload: stream-inference
settings: {model: tiny-yolov2, channels: 8, input_size: 224}
# ... or any program: it gets the settings as arguments, and ends its output with one
# JSON object such as {"responses": {"throughput": 812.5}}.
# command: [./bench, --batch, "{batch_size}"]

factors:
  executors_per_gpu: {low: 1, high: 3, type: integer, baseline: 1}
  batch_size: {levels: [1, 2, 4, 8, 16], scale: log2, baseline: 1}
  decode_rate: {low: 1, high: 9, unit: Hz, baseline: 5}

# constraints: ["batch_size * executors_per_gpu <= 32"]
model: quadratic
design: {type: fccd, center_runs: 6}

responses:
  throughput: {unit: images/s, goal: maximize}
  processing_time: {unit: s, goal: at_most, high: 1.0, transform: log}

run: {timeout: 2 min, retries: 1}
# confirm: {runs: 5}              # of `doetune confirm`: at the best settings, and at the baseline
)yaml";

constexpr std::string_view kTraining =
    R"yaml(# How many images, which, and how many epochs reach an accuracy in the least time?
study: my-training
seed: 2026                        # fixes the run order and the workload's data

workload: train-classifier        # `doetune workloads` lists its factors and responses
settings: {network: small-cnn, threads: 1, batch_size: 16, learning_rate: 0.015}

factors:
  epochs: {low: 4, high: 12, type: integer, baseline: 8}
  data_size: {low: 1500, high: 4500, type: integer, baseline: 3000}
  selection: {levels: [random, uncertainty], baseline: random}    # text: categorical

model: quadratic
design: {type: d-optimal, runs: 20}   # takes categorical factors; `doetune designs` lists others

responses:
  accuracy: {unit: "%", goal: at_least, low: 50}
  time: {unit: s, goal: minimize, transform: log}

run: {timeout: 10 min, retries: 1}
# confirm: {runs: 5}              # of `doetune confirm`: at the best settings, and at the baseline
)yaml";

constexpr std::string_view kOwnInference =
    R"yaml(# Your own inference server or benchmark: any program that can be started once per run.
study: my-server
seed: 2026                        # fixes the run order

# The program, as a list of arguments; it runs in the folder of this file. {name} is the setting of
# a factor; {seed} and {run} work too. It may
#   - end its output with one JSON object:  {"responses": {"throughput": 812.5, "p99_latency": 46}}
#   - or print anything: each response then has a `pattern`, a regular expression whose first
#     group is the value.
command: [./bench, --instances, "{instances}", --batch, "{max_batch}", --delay-us, "{queue_delay}"]

factors:
  instances: {low: 1, high: 4, type: integer, baseline: 1}
  max_batch: {levels: [1, 2, 4, 8, 16, 32], scale: log2, baseline: 8}
  queue_delay: {low: 0, high: 2000, step: 100, unit: us, baseline: 0}

# Combinations that must not be run, for example because memory would run out:
# constraints: ["instances * max_batch <= 64"]

model: quadratic
design: {type: fccd, center_runs: 6}

responses:
  throughput: {unit: 1/s, goal: maximize}
  # Where the program prints text:   throughput: {..., pattern: "Throughput: ([0-9.]+)"}
  p99_latency: {unit: ms, goal: at_most, high: 50, transform: log}

run:
  timeout: 5 min
  retries: 1
  # gpus_per_run: 1               # each run has its own GPU; without this key, none is requested
  # expected: 1 min               # to estimate what the study will cost before the first run
# confirm: {runs: 5}              # of `doetune confirm`: at the best settings, and at the baseline
)yaml";

constexpr std::string_view kOwnTraining =
    R"yaml(# Your own training program: training time against accuracy and energy.
study: my-training
seed: 2026                        # fixes the run order

# The program, as a list of arguments; it runs in the folder of this file. {name} is the setting of
# a factor. It ends its output with one JSON object, such as
#   {"responses": {"time": 312.5, "accuracy": 76.1, "energy": 41000}}
# and exits with 77 if the settings cannot run; running out of GPU memory is detected.
command: [./train, --batch, "{batch_size}", --lr, "{learning_rate}", --workers, "{workers}",
          --precision, "{precision}"]

factors:
  batch_size: {levels: [32, 64, 128, 256], scale: log2, baseline: 64}
  learning_rate: {low: 0.001, high: 0.1, scale: log10, baseline: 0.01}
  workers: {low: 1, high: 8, type: integer, baseline: 4}
  precision: {levels: [fp32, bf16], baseline: fp32}

model: quadratic
design: {type: d-optimal, runs: 28}

responses:
  accuracy: {unit: "%", goal: at_least, low: 75}
  time: {unit: s, goal: minimize, transform: log}

run:
  timeout: 60 min
  retries: {failed: 1, timed_out: 0, lost: 3}
  # gpus_per_run: 1               # each run has its own GPU; without this key, none is requested
  # expected: 10 min              # to estimate what the study will cost before the first run
# confirm: {runs: 5}              # of `doetune confirm`: at the best settings, and at the baseline
)yaml";

constexpr std::string_view kImport =
    R"yaml(# Runs that were made elsewhere, as a table: a column per factor and response, a row per run.
#   doetune import THIS_FILE results.csv
study: my-results

factors:
  threads: {low: 1, high: 16, type: integer, baseline: 4}
  batch_size: {low: 1, high: 64, type: integer, scale: log2, baseline: 8}

model: quadratic                  # needs at least 6 different settings of two factors

responses:
  throughput: {unit: images/s, goal: maximize}
  latency: {unit: ms, goal: at_most, high: 50, transform: log}
)yaml";

constexpr std::string_view kSlurm =
    R"yaml(# Each run is its own job in Slurm's queue. This file must be where the nodes can read it too.
study: my-cluster-study
seed: 2026                        # fixes the run order and the workload's data

workload: stream-inference        # or a command: `doetune init --template own-inference` shows one
settings: {model: tiny-yolov2, channels: 8, input_size: 224}

factors:
  executors_per_gpu: {low: 1, high: 3, type: integer, baseline: 1}
  batch_size: {levels: [1, 2, 4, 8, 16], scale: log2, baseline: 1}
  decode_rate: {low: 1, high: 9, unit: Hz, baseline: 5}

model: quadratic
design: {type: fccd, center_runs: 6}

responses:
  throughput: {unit: images/s, goal: maximize}
  processing_time: {unit: s, goal: at_most, high: 1.0, transform: log}

run:
  launcher: slurm                 # slurm-pilot: all runs in one allocation
  jobs: 4                         # concurrent runs
  timeout: 10 min
  retries: {failed: 1, lost: 3}
  # gpus_per_run: 1
  slurm:
    # partition: gpu
    # account: my-project
    options: [--exclusive]        # further arguments of sbatch: exclusive use of the node
# confirm: {runs: 5}              # of `doetune confirm`: at the best settings, and at the baseline
)yaml";

constexpr std::string_view kServing =
    R"yaml(# An inference server: the largest load at the promised latency, and the settings that reach it.
study: my-serving
seed: 2026                        # fixes the run order and the requests

workload: serving-load            # the load; also speaks Triton's protocol and plain HTTP (`api`)
settings: {model: Qwen/Qwen2.5-7B-Instruct, prompt_tokens: "128..1024", output_tokens: 128,
           warmup: 10, duration: 30, requests: 64}   # requests: what a 90th percentile needs

factors:
  # Of the server. Those that are known to need more memory at higher settings can be
  # named in infeasible_when: {max_num_seqs: higher}.
  max_num_seqs: {levels: [32, 64, 128, 256], scale: log2, baseline: 256}
  max_num_batched_tokens: {levels: [2048, 4096, 8192, 16384], scale: log2, baseline: 8192}
  kv_cache_dtype: {levels: [auto, fp8], baseline: auto}
  # Of the load: in each run the largest that keeps these limits, which are on responses below.
  request_rate: {low: 1, high: 128, unit: requests/s, baseline: 8, search: largest,
                 limits: {time_to_first_token_p90: "<= 0.5", inter_token_latency_p90: "<= 0.05",
                          error_share: "<= 0.01"}}

model: quadratic
design: {type: d-optimal, runs: 18}

responses:
  request_rate: {goal: maximize, transform: log}
  output_tokens_per_second: {unit: tokens/s}
  time_to_first_token_p90: {unit: s}
  inter_token_latency_p90: {unit: s}
  error_share: {}

run:
  # Starts a server for each run, on a free port. Where some factors need no restart, mark the
  # others hard_to_change: a server then lives through several runs.
  set_up: [vllm, serve, "{model}", --host, "{host}", --port, "{port}",
           --max-num-seqs, "{max_num_seqs}", --max-num-batched-tokens, "{max_num_batched_tokens}",
           --kv-cache-dtype, "{kv_cache_dtype}"]
  ready: "http://{host}:{port}/health"
  ready_within: 20 min
  gpus_per_run: 1
  timeout: 20 min
  expected: 8 min
# confirm: {runs: 5}              # of `doetune confirm`: at the best settings, and at the baseline
)yaml";

constexpr std::string_view kDemo =
    R"yaml(# A first study, about a minute on two CPU cores: how many executors, and how many images at a
# time, process four camera channels fastest?
#   doetune plan demo.yaml && doetune run demo && doetune report demo
# Then `doetune confirm demo` runs the best settings and the baseline, and checks the prediction.
study: demo
seed: 2026
workload: stream-inference
settings: {model: tiny-yolov2, channels: 4, input_size: 96, decode_rate: 5, interval: 0.25, warmup: 0.25, duration: 2}

factors:
  executors_per_gpu: {low: 1, high: 3, type: integer, baseline: 1}
  batch_size: {levels: [1, 2, 4, 8, 16], scale: log2, baseline: 1}

model: quadratic
design: {type: fccd, center_runs: 5}

responses:
  throughput: {unit: images/s, goal: maximize, transform: log}
  processing_time: {unit: s, goal: at_most, high: 0.5, transform: log}

run: {timeout: 1 min, retries: 1, expected: 4 s}
)yaml";

constexpr std::array kTemplates{
    StudyTemplate{"inference", "the bundled inference on image streams", kInference},
    StudyTemplate{"training", "the bundled training of a classifier", kTraining},
    StudyTemplate{"serving", "the largest load of an inference server under limits", kServing},
    StudyTemplate{"own-inference", "your own server or benchmark, as a command", kOwnInference},
    StudyTemplate{"own-training", "your own training program, as a command", kOwnTraining},
    StudyTemplate{"import", "runs made elsewhere, from a table", kImport},
    StudyTemplate{"slurm", "each run as a job on a cluster with Slurm", kSlurm},
};

}  // namespace

std::span<const StudyTemplate> study_templates() { return kTemplates; }

std::string_view demo_study() { return kDemo; }

}  // namespace doetune::cli
