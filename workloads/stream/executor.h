// An executor of a stream: a network that processes its share of each micro-batch.
#pragma once

#include <memory>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/memory_mapping.h"
#include "workloads/stream/executor_config.h"
#include "workloads/stream/pipeline.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {

class Executor {
 public:
  /// Prepares all batch sizes of the first micro-batches. Throws CannotRun and NoDevice.
  explicit Executor(const ExecutorConfig& config);

  /// Processes this executor's share of micro-batch `k` with this number of cameras.
  ShareReport process(std::int64_t k, int channels);

  /// Names of library and device.
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
  std::int64_t next_ = 0;  // index of the next micro-batch
};

}  // namespace doetune::workloads
