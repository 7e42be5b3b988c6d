#include "workloads/engines/onednn/onednn_optimizer.h"

#include <algorithm>
#include <string>

#include "workloads/engines/onednn/onednn_calls.h"

namespace doetune::workloads::onednn {

Block::Block(std::span<const float> values) : Block(std::ssize(values)) {
  std::ranges::copy(values, buffer_.floats());
}

OptimizerBlocks::OptimizerBlocks(const Network& network, std::span<const float> first_parameters,
                                 std::span<const float> first_statistics,
                                 const TrainingOptions& training)
    : layout(parameter_layout(network)),
      options(training),
      parameters(first_parameters),
      gradients(std::ssize(first_parameters)),
      momentum(std::ssize(first_parameters)),
      statistics(first_statistics) {}

void OptimizerBlocks::update(float learning_rate) {
  use_threads(options.threads);
  // One pass over memory, and one parallel region for all tensors, most of which are small.
#pragma omp parallel
  for (const ParameterTensor& tensor : layout) {
    const float decay = tensor.kind == ParameterKind::weights ? options.weight_decay : 0.0F;
    const float kept = options.momentum;
    float* w = parameters.data() + tensor.offset;
    float* v = momentum.data() + tensor.offset;
    const float* g = gradients.data() + tensor.offset;
#pragma omp for simd nowait
    for (std::int64_t i = 0; i < tensor.count; ++i) {
      v[i] = kept * v[i] + (g[i] + decay * w[i]);
      w[i] -= learning_rate * v[i];
    }
  }
}

void check_precision(Precision precision) {
  if (precision != Precision::fp32 && precision != Precision::bf16)
    throw CannotRun("the CPU trains in fp32 and bf16, not in " + std::string(name_of(precision)));
}

void check_images(int images, const TrainingOptions& options) {
  if (images < 1 || images > options.batch) throw std::invalid_argument("images outside 1..batch");
}

void check_labels(std::span<const std::int32_t> labels, int classes) {
  for (const std::int32_t label : labels)
    if (label < 0 || label >= classes)
      throw std::invalid_argument("a label is " + std::to_string(label) + ", outside 0.." +
                                  std::to_string(classes - 1));
}

}  // namespace doetune::workloads::onednn
