#include "workloads/communication/data_parallel.h"

namespace doetune::workloads {

BatchShare batch_share(int batch, int rank, int ranks) {
  const auto first = [&](std::int64_t r) { return static_cast<int>(batch * r / ranks); };
  return {first(rank), first(rank + 1) - first(rank)};
}

DataParallel::DataParallel(Communicator& communicator, TrainableNetwork& network,
                           const DataParallelOptions& options)
    : communicator_(communicator),
      network_(network),
      gradients_on_device_(options.gradients_on_device),
      sum_(communicator, network.gradients_block(), options.bucket, options.type) {
  if (communicator.size() == 1) return;
  for (const auto block : {network.parameters(), network.momentum_block(), network.statistics()})
    if (!block.empty()) communicator.broadcast(block);
  network.changed();
}

float DataParallel::weight(int batch) const {
  const int count = batch_share(batch, communicator_.rank(), communicator_.size()).count;
  return static_cast<float>(count) / static_cast<float>(batch);
}

DataParallel::Step DataParallel::step(int batch, float learning_rate) {
  const int count = batch_share(batch, communicator_.rank(), communicator_.size()).count;
  Step step;
  if (communicator_.size() == 1) {
    step.score = network_.gradients(count);
  } else {
    sum_.begin(weight(batch));
    step.score = network_.gradients(count, [&](std::int64_t offset) { sum_.ready(offset); });
    step.waited_s = sum_.wait();
    if (!gradients_on_device_) network_.changed();
  }
  network_.update(learning_rate);
  return step;
}

}  // namespace doetune::workloads
