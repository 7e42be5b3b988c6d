// An executor of a static run: a process with one network that processes batches.
#pragma once

#include <string>

#include "workloads/engines/engine.h"
#include "workloads/static/image_source.h"

namespace doetune::workloads {

/// The configuration of an executor. Files are open descriptors.
struct StaticExecutorConfig {
  int index = 0;
  std::string model;
  int input_size = 416;
  std::string device = "cpu";
  int gpu = 0;
  CompileOptions compile;
  ImageSet data;
  bool skip_broken = false;  ///< leave broken images out instead of ending
  int weights_file = -1;
  int coded_file = -1;  ///< receives the coded frames; -1: nothing is drawn
};

std::string to_text(const StaticExecutorConfig& config);
StaticExecutorConfig static_config_from_text(const std::string& text);

/// Serves one pool over the socket until the pool closes it: sends ExecutorReady, then a
/// BatchReport for each BatchOrder, in order. Returns the process's exit code, after a message on
/// standard error if it is not 0.
int run_static_executor(int socket);

}  // namespace doetune::workloads
