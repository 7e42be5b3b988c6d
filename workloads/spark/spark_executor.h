// The network that a Python worker of a Spark executor holds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/memory_mapping.h"
#include "workloads/protocol/protocol.h"
#include "workloads/spark/coded_share.h"
#include "workloads/stream/pipeline.h"

namespace doetune::workloads {

/// What all processes of an application are told: as JSON, {"request": {"settings", "seed"},
/// "executors", "threads"}.
struct SparkConfiguration {
  Request request;
  int executors = 1;
  int threads = 1;  ///< of one executor
};

SparkConfiguration spark_configuration(const Request& request);
std::string to_text(const SparkConfiguration& configuration);
/// Throws UsageError and Json::exception.
SparkConfiguration spark_configuration(const std::string& text);

/// The frames of micro-batch `k` that task `share` analyses.
std::vector<StreamFrame> frames_of_share(const SparkConfiguration& configuration, std::int64_t k,
                                         int share);

/// Decodes the frames of one share after another.
class CodedImages final : public DecodedImages {
 public:
  void begin(std::vector<CodedFrame> frames);
  DecodedImage next() override;
  double take_busy_s() override;

 private:
  FrameDecoder decoder_;
  std::vector<CodedFrame> frames_;
  std::size_t next_ = 0;
  double busy_s_ = 0;
};

class SparkExecutor {
 public:
  /// Prepares all batch sizes of the first micro-batches. Throws CannotRun and NoDevice.
  explicit SparkExecutor(const SparkConfiguration& configuration);

  /// Analyses a share: {"micro_batch", "share", "images", the seconds of each stage as in
  /// ShareReport, "detections": [{"channel", "frame", "class_index", "confidence", "x", "y",
  /// "width", "height"}]}. Throws std::invalid_argument and VideoError for damaged bytes.
  Json process(std::span<const std::byte> share);

 private:
  Mapping weights_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<CompiledNetwork> network_;
  CodedImages images_;
  std::vector<std::vector<Detection>> boxes_;  ///< of each image of the current share
  Pipeline pipeline_;
};

}  // namespace doetune::workloads
