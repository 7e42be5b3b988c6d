// One executor: a network that works through its share of each micro-batch.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>

#include "workloads/engines/engine.h"
#include "workloads/mapping.h"
#include "workloads/stream/decoders.h"
#include "workloads/stream/executor_config.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {

/// What came out of a share, and the seconds that each stage takes by itself. Stages that overlap
/// add up to more than the time that passed.
struct ShareReport {
  std::int64_t micro_batch = 0;
  std::int64_t images = 0;
  std::int64_t detections = 0;
  double decode_s = 0;
  double resize_s = 0;
  double infer_s = 0;
  double boxes_s = 0;
  double elapsed_s = 0;

  double stages_s() const { return decode_s + resize_s + infer_s + boxes_s; }
  ShareReport& operator+=(const ShareReport& other);
};

/// Loads a batch while the device runs the ones before it, as many as the engine takes (lanes).
/// With one lane, the CPU's, stages follow one another. `infer_s` of a batch is then its time; with
/// more lanes nobody sees when a batch was done, and it is the time that one of its size took alone
/// when it was prepared.
class Executor {
 public:
  /// Throws CannotRun and NoDevice.
  explicit Executor(const ExecutorConfig& config);

  /// The share of micro-batch `k`, with as many cameras as told.
  ShareReport process(std::int64_t k, int channels);

  /// Library and device in words.
  std::string engine() const { return engine_->description(); }
  std::int64_t device_bytes() const { return compiled_->device_bytes(); }

 private:
  std::vector<Frame> share(std::int64_t k) const;
  void prepare_for(std::size_t images);
  void fill(int images, ShareReport& report);
  void submit(int images, ShareReport& report);
  void collect(ShareReport& report);

  ExecutorConfig config_;
  Network network_;
  Mapping weights_;
  Clip clip_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<CompiledNetwork> compiled_;
  std::map<int, double> alone_s_;  // by images in a batch
  std::deque<int> under_way_;      // images of the batches submitted
  std::int64_t next_ = 0;          // micro-batch
  Decoders decoders_;
};

}  // namespace doetune::workloads
