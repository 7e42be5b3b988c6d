// Decoding, network and boxes of one executor, overlapped if the engine supports it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/stream/decoders.h"

namespace doetune::workloads {

/// The results of a share, and the time of each stage by itself. Stages that overlap add up to more
/// than the elapsed time.
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

/// Loads a batch while the device runs the previous ones, up to the engine's lanes, and waits for
/// the oldest only when the next one is loaded, so that the device always has work queued. With one
/// lane (CPU), stages are sequential, and `infer_s` of a batch is its own time. With more lanes the
/// completion of a batch is not observed, and `infer_s` is the time that a batch of its size took
/// alone when it was prepared.
class Pipeline {
 public:
  /// Takes the boxes of each image, in order.
  using Boxes = std::function<void(std::vector<Detection>)>;

  /// `batch`: images per batch; the remainder of a share is a smaller batch.
  Pipeline(CompiledNetwork& network, DecodedImages& decoded, int batch, Boxes boxes = {});

  /// Prepares all batch sizes that this number of images needs, so that none is first used while
  /// measuring.
  void prepare_for(std::size_t images);

  /// Analyses the next images of those decoded.
  ShareReport process(std::size_t images);

 private:
  void fill(int images);
  void submit(int images);
  void collect();

  CompiledNetwork& network_;
  DecodedImages& decoded_;
  int batch_;
  Boxes boxes_;
  std::map<int, double> alone_s_;  // by number of images
  std::deque<int> under_way_;      // images of the batches submitted
  ShareReport report_;             // of the current share
};

}  // namespace doetune::workloads
