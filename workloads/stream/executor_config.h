// What an executor is told when it starts.
#pragma once

#include <string>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/stream/stream_plan.h"

namespace doetune::workloads {

/// The two files are open descriptors.
struct ExecutorConfig {
  int index = 0;      // among all executors
  int executors = 1;  // of all devices together
  std::string model;
  int input_size = 416;
  std::string device = "cpu";
  EngineOptions engine;
  CompileOptions compile;
  int decoders = 0;  // threads that decode; 0: the executor's own
  bool decode_on_gpu = false;
  std::vector<int> cpus;  // that the executor may use
  StreamPlan plan;
  int weights_fd = -1;
  int clip_fd = -1;
};

std::string to_text(const ExecutorConfig& config);
ExecutorConfig config_from_text(const std::string& text);

}  // namespace doetune::workloads
