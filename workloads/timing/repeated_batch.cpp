#include "workloads/timing/repeated_batch.h"

#include <algorithm>
#include <utility>

namespace doetune::workloads {

RepeatedBatch::RepeatedBatch(CompiledNetwork& network, std::vector<float> input, int images)
    : network_(network), input_(std::move(input)), images_(images) {
  while (fill_next()) network_.infer(images_);
}

/// Fills the next input buffer unless it holds the batch.
bool RepeatedBatch::fill_next() {
  const std::span<float> buffer = network_.input();
  if (std::ranges::find(filled_, buffer.data()) != filled_.end()) return false;
  std::ranges::copy(input_, buffer.begin());
  filled_.push_back(buffer.data());
  return true;
}

void RepeatedBatch::run() {
  fill_next();
  network_.infer(images_);
}

}  // namespace doetune::workloads
