// One executor: a process with one network that works through its share of each micro-batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/stream/stream_plan.h"

namespace doetune::workloads {

/// Everything that an executor is told when it starts. The two files are open descriptors.
struct ExecutorConfig {
  int index = 0;
  int executors = 1;
  std::string model;
  int input_size = 416;
  std::string device = "cpu";
  CompileOptions compile;
  StreamPlan plan;
  int weights_fd = -1;
  int clip_fd = -1;
};

/// Seconds spent on each stage, and what came out.
struct ShareReport {
  std::int64_t micro_batch = 0;
  std::int64_t images = 0;
  std::int64_t detections = 0;
  double decode_s = 0;
  double resize_s = 0;
  double infer_s = 0;
  double boxes_s = 0;

  double busy_s() const { return decode_s + resize_s + infer_s + boxes_s; }
  ShareReport& operator+=(const ShareReport& other);
};

/// What passes over an executor's socket, one packet each: the configuration (text) to the
/// executor, kReady (an int64) back, then for each micro-batch its number (an int64) to the
/// executor and a ShareReport back. The end of the stream ends the executor.
inline constexpr std::int64_t kReady = -1;
inline constexpr std::size_t kLongestMessage = 1 << 16;

std::string to_text(const ExecutorConfig& config);
ExecutorConfig config_from_text(const std::string& text);

/// Serves one coordinator over the socket until it hangs up. Returns the process's exit code, after
/// a message on standard error if it is not 0.
int run_executor(int socket);

}  // namespace doetune::workloads
