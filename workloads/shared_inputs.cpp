#include "workloads/shared_inputs.h"

#include "base/file_descriptor.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/weights.h"
#include "workloads/processes/cpus.h"
#include "workloads/timing/roofline.h"

namespace doetune::workloads {

Input categories(std::string name, std::vector<std::string> levels, std::string description) {
  std::string first = levels.front();
  return {
      std::move(name),  InputKind::categorical, std::move(first), std::move(description), "", 0, 0,
      std::move(levels)};
}

Input model_input(std::vector<std::string> models) {
  return categories("model", std::move(models), "the network");
}

Input device_input(std::string description) {
  std::vector<std::string> names{"auto"};
  for (const EngineType& type : engine_types()) names.emplace_back(type.device);
  return categories("device", std::move(names), std::move(description));
}

Input precision_input(std::string description) {
  return categories("precision", {"fp32", "tf32", "bf16", "fp16"}, std::move(description));
}

Input threads_input() {
  return {"threads", InputKind::integer,
          nullptr,   "CPU threads in total, at least one per executor; default: one per core",
          "",        1,
          1024};
}

Input weights_input() {
  return {"weights", InputKind::text, nullptr,
          "a Darknet .weights file; default: random, from the seed"};
}

std::vector<Input> with_timing_inputs(std::vector<Input> own) {
  using enum InputKind;
  for (Input& input : std::vector<Input>{
           device_input(),
           threads_input(),
           {"warmup", continuous, 0.5, "minimum warm-up time before the measurement", "s", 0, 3600},
           {"duration", continuous, 2.0, "minimum measurement time", "s", 0, 86400},
           roofline_input()})
    own.push_back(std::move(input));
  return own;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const NetworkType& type : network_types()) names.emplace_back(type.name);
  return names;
}

int threads_of(const Request& request) {
  return request.inputs.has("threads") ? request.inputs.integer("threads")
                                       : static_cast<int>(assigned_cpus(request.cpus).size());
}

Network network_of(const Inputs& inputs) {
  const NetworkType& type = network_type(inputs.text("model"));
  try {
    return make_network(
        type.name, inputs.has("input_size") ? inputs.integer("input_size") : type.default_height);
  } catch (const std::invalid_argument& error) {
    throw UsageError(std::string("input_size: ") + error.what());
  }
}

void fill_weights(const Request& request, const Network& network, std::span<float> block) {
  if (request.inputs.has("weights"))
    load_darknet_weights(network, request.inputs.text("weights"), block);
  else
    random_weights(network, request.seed, block);
}

FileDescriptor shared_weights(const Request& request, const Network& network) {
  FileDescriptor file = make_memory_file("doetune-weights", weight_count(network) * sizeof(float));
  const Mapping mapping(file.get(), Access::read_write);
  fill_weights(request, network, mapping.floats());
  return file;
}

}  // namespace doetune::workloads
