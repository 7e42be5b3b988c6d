// Decoding, network and boxes of one executor, overlapped as far as its engine allows.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/stream/decoders.h"

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

/// Loads a batch while the device runs the ones before it, as many as the engine takes (lanes), and
/// waits for the oldest only when the next one is loaded, so that the device never lacks work for
/// want of the other's results. With one lane, the CPU's, stages follow one another, and `infer_s`
/// of a batch is its time. With more lanes nobody sees when a batch was done, and it is the time
/// that one of its size took alone when it was prepared.
class Pipeline {
 public:
  /// `batch`: images that the network takes at a time; what is left at the end of a share is a
  /// smaller batch.
  Pipeline(CompiledNetwork& network, Decoders& decoders, int batch);

  /// Prepares every size of batch that so many images need, so that no measured one is its first.
  void prepare_for(std::size_t images);

  /// `skipped`: the share does not follow the one before.
  ShareReport process(std::vector<StreamFrame> share, bool skipped);

 private:
  void fill(int images);
  void submit(int images);
  void collect();

  CompiledNetwork& network_;
  Decoders& decoders_;
  int batch_;
  std::map<int, double> alone_s_;  // by images in a batch
  std::deque<int> under_way_;      // images of the batches submitted
  ShareReport report_;             // of the share at hand
};

}  // namespace doetune::workloads
