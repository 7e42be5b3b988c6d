#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/terminal.h"
#include "study/directory.h"

namespace doetune::cli {
namespace {

constexpr const char* kTemplate =
    R"(# What to vary, what to run, what is wanted. `doetune schema` prints every key there is.
study: my-study
seed: 2026                        # fixes the run order and the workload's data

# A bundled workload (`doetune workloads` lists them) ...
workload: stream-inference
settings: {model: tiny-yolov2, channels: 8, input_size: 224}
# ... or any program: it is told the settings through its arguments, and ends its output with one
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
)";

}  // namespace

void describe_init(Options& options) {
  options.add()("force", "replace a file that is there");
  options.add_positional("FILE", 1);
}

int command_init(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::vector<std::string> given = options.list("FILE");
  const std::filesystem::path file = given.empty() ? "study.yaml" : given.front();
  if (std::filesystem::exists(file) && !options.has("force")) {
    throw UsageError(
        fmt::format("doetune init: {} is there already; --force replaces it", file.string()));
  }
  study::write_file_atomically(file, kTemplate);
  if (options.json()) {
    fmt::print("{}\n",
               nlohmann::ordered_json{{"schema_version", 1}, {"file", file.string()}}.dump(2));
  } else {
    fmt::print("{} written: edit it, then plan\n", file.string());
  }
  say_next(fmt::format("doetune plan {}", file.string()));
  return kDone;
}

}  // namespace doetune::cli
