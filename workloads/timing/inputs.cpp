#include "workloads/timing/inputs.h"

#include "workloads/engines/engine.h"
#include "workloads/stream/executor_pool.h"
#include "workloads/timing/roofline.h"

namespace doetune::workloads {
namespace {

std::vector<std::string> device_names() {
  std::vector<std::string> names{"auto"};
  for (const EngineType& type : engine_types()) names.emplace_back(type.device);
  return names;
}

}  // namespace

Input categories(std::string name, std::vector<std::string> levels, std::string description) {
  std::string first = levels.front();
  return {
      std::move(name),  InputKind::categorical, std::move(first), std::move(description), "", 0, 0,
      std::move(levels)};
}

Input precision_input() {
  return categories("precision", {"fp32", "tf32", "bf16", "fp16"}, "of the numbers; sums are fp32");
}

std::vector<Input> with_timing_inputs(std::vector<Input> own) {
  using enum InputKind;
  for (Input& input : std::vector<Input>{
           categories("device", device_names(), "where it runs"),
           {"threads", integer, nullptr, "CPU threads; default: one a core", "", 1, 1024},
           {"warmup", continuous, 0.5, "least time before the measurement", "s", 0, 3600},
           {"duration", continuous, 2.0, "least time to measure", "s", 0, 86400},
           roofline_input()})
    own.push_back(std::move(input));
  return own;
}

int threads_of(const Request& request) {
  return request.inputs.has("threads") ? request.inputs.integer("threads")
                                       : static_cast<int>(usable_cpus(request.cpus).size());
}

}  // namespace doetune::workloads
