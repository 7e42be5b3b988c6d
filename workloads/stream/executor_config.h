// The configuration of an executor of a stream.
#pragma once

#include <string>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/stream/stream_plan.h"

namespace doetune::workloads {

/// The two files are open descriptors.
struct ExecutorConfig {
  int index = 0;      // index among all executors
  int executors = 1;  // their number, over all devices
  std::string model;
  int input_size = 416;
  std::string device = "cpu";
  EngineOptions engine;
  CompileOptions compile;
  int decoders = 0;  // decoder threads; 0: the executor decodes
  bool decode_on_gpu = false;
  std::vector<int> cpus;  // its CPUs
  StreamPlan plan;
  int weights_fd = -1;
  int clip_fd = -1;
};

std::string to_text(const ExecutorConfig& config);
ExecutorConfig config_from_text(const std::string& text);

}  // namespace doetune::workloads
