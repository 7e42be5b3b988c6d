// One batch, run again and again from host memory.
#pragma once

#include <vector>

#include "workloads/engines/engine.h"

namespace doetune::workloads {

class RepeatedBatch {
 public:
  /// Runs the network once with each of its input buffers. `input` holds the floats of the
  /// network's whole input buffer, `images` is the number of images to run.
  RepeatedBatch(CompiledNetwork& network, std::vector<float> input, int images);

  /// Uploads the batch and runs it; its results are then the network's output().
  void run();

  const std::vector<float>& input() const { return input_; }

 private:
  bool fill_next();

  CompiledNetwork& network_;
  std::vector<float> input_;
  int images_;
  std::vector<const float*> filled_;  // input buffers that hold the batch
};

}  // namespace doetune::workloads
