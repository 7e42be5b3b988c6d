#include "workloads/communication/pipeline.h"
#include "base/clock.h"

#include <algorithm>
#include <chrono>

namespace doetune::workloads {
namespace {

template <class T>
std::span<const T> part(std::span<const T> whole, BatchShare share, int of) {
  const std::size_t elements = whole.size() / static_cast<std::size_t>(of);
  return whole.subspan(share.first * elements, share.count * elements);
}

}  // namespace

int largest_micro_batch(const PipelineOptions& options) {
  return (options.batch + options.micro_batches - 1) / options.micro_batches;
}

int pipeline_slots(int rank, int ranks, const PipelineOptions& options) {
  return std::min(ranks - rank, options.micro_batches);
}

PipelineOfStages::PipelineOfStages(Communicator& communicator, TrainableStage& stage,
                                   const PipelineOptions& options)
    : communicator_(communicator),
      stage_(stage),
      options_(options),
      slots_(pipeline_slots(communicator.rank(), communicator.size(), options)),
      output_gradients_(static_cast<std::size_t>(slots_)),
      gradient_(stage.gradients_block().size()) {}

PipelineOfStages::Step PipelineOfStages::step(std::span<const float> images,
                                              std::span<const std::int32_t> labels,
                                              float learning_rate) {
  const int ahead = slots_ - 1;  // forward passes before the first backward pass
  Step step;
  waited_s_ = 0;
  std::ranges::fill(gradient_, 0.0F);
  if (!first()) input_ = expect(stage_.input(0), share(0).count, communicator_.rank() - 1);
  for (int k = 0; k < options_.micro_batches + ahead; ++k) {
    if (k < options_.micro_batches) {
      fill(k, images, labels);
      forward(k);
    }
    if (k >= ahead) step.loss += backward(k - ahead);
  }
  std::ranges::copy(gradient_, stage_.gradients_block().begin());
  stage_.changed();
  stage_.update(learning_rate);
  step.waited_s = waited_s_;
  return step;
}

BatchShare PipelineOfStages::share(int micro_batch) const {
  return batch_share(options_.batch, micro_batch, options_.micro_batches);
}

PipelineOfStages::Arriving PipelineOfStages::expect(std::span<const float> buffer, int images,
                                                    int from) {
  return communicator_.receive(part(buffer, {0, images}, largest_micro_batch(options_)).size(),
                               from, options_.type);
}

void PipelineOfStages::take(Arriving& arriving, std::span<float> into) {
  const auto start = Clock::now();
  const std::vector<float> values = arriving.get();
  waited_s_ += std::chrono::duration<double>(Clock::now() - start).count();
  std::ranges::copy(values, into.begin());
}

void PipelineOfStages::send(std::span<const float> buffer, int images, int to) {
  communicator_.send(part(buffer, {0, images}, largest_micro_batch(options_)), to, options_.type);
}

void PipelineOfStages::fill(int micro_batch, std::span<const float> images,
                            std::span<const std::int32_t> labels) {
  const int slot = micro_batch % slots_;
  if (first())
    std::ranges::copy(part(images, share(micro_batch), options_.batch), stage_.input(slot).begin());
  else
    take(input_, stage_.input(slot));
  if (last())
    std::ranges::copy(part(labels, share(micro_batch), options_.batch),
                      stage_.labels(slot).begin());
  if (!first() && micro_batch + 1 < options_.micro_batches)
    input_ = expect(stage_.input(slot), share(micro_batch + 1).count, communicator_.rank() - 1);
}

void PipelineOfStages::forward(int micro_batch) {
  const int slot = micro_batch % slots_;
  const auto [first_image, images] = share(micro_batch);
  stage_.forward(slot, images, first_image);
  if (last()) return;
  send(stage_.output(slot), images, communicator_.rank() + 1);
  output_gradients_[slot] = expect(stage_.output_gradient(slot), images, communicator_.rank() + 1);
}

double PipelineOfStages::backward(int micro_batch) {
  const int slot = micro_batch % slots_;
  const int images = share(micro_batch).count;
  if (!last()) take(output_gradients_[slot], stage_.output_gradient(slot));
  const BatchScore score = stage_.backward(slot);
  if (!first()) send(stage_.input_gradient(slot), images, communicator_.rank() - 1);
  const auto weight = static_cast<float>(images) / static_cast<float>(options_.batch);
  const std::span<const float> gradient = stage_.gradients_block();
  const auto count = std::ssize(gradient);
#pragma omp parallel for simd
  for (std::int64_t i = 0; i < count; ++i) gradient_[i] += weight * gradient[i];
  return static_cast<double>(weight) * score.loss;
}

}  // namespace doetune::workloads
