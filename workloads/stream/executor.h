// One executor: a network that works through its share of each micro-batch.
#pragma once

#include <memory>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/mapping.h"
#include "workloads/stream/executor_config.h"
#include "workloads/stream/pipeline.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {

class Executor {
 public:
  /// Prepares what the first micro-batches need. Throws CannotRun and NoDevice.
  explicit Executor(const ExecutorConfig& config);

  /// The share of micro-batch `k`, with as many cameras as told.
  ShareReport process(std::int64_t k, int channels);

  /// Library and device in words.
  std::string engine() const { return engine_->description(); }
  std::int64_t device_bytes() const { return network_->device_bytes(); }

 private:
  std::vector<StreamFrame> share(std::int64_t k) const;

  ExecutorConfig config_;
  Mapping weights_;
  Clip clip_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<CompiledNetwork> network_;
  Decoders decoders_;
  Pipeline pipeline_;
  std::int64_t next_ = 0;  // micro-batch
};

}  // namespace doetune::workloads
