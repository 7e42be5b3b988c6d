// The parameter blocks and update common to networks and stages under training on oneDNN.
#pragma once

#include <span>
#include <vector>

#include "workloads/engines/onednn/onednn_memory.h"
#include "workloads/engines/training.h"

namespace doetune::workloads::onednn {

/// Floats in page-aligned memory.
class Block {
 public:
  explicit Block(std::int64_t count) : count_(count), buffer_(count * sizeof(float)) {}
  explicit Block(std::span<const float> values);
  std::span<float> span() const { return {buffer_.floats(), static_cast<std::size_t>(count_)}; }
  float* data() const { return buffer_.floats(); }

 private:
  std::int64_t count_;
  Buffer buffer_;
};

/// The blocks of parameters.h and the update step.
struct OptimizerBlocks {
  OptimizerBlocks(const Network& network, std::span<const float> first_parameters,
                  std::span<const float> first_statistics, const TrainingOptions& options);

  void update(float learning_rate);

  std::vector<ParameterTensor> layout;
  TrainingOptions options;
  Block parameters;
  Block gradients;
  Block momentum;
  Block statistics;
};

/// `Interface` is TrainableNetwork or TrainableStage.
template <class Interface>
class OnednnOptimizer : public Interface {
 public:
  template <class... Arguments>
  explicit OnednnOptimizer(const Arguments&... arguments) : blocks_(arguments...) {}

  std::span<float> parameters() override { return blocks_.parameters.span(); }
  std::span<float> gradients_block() override { return blocks_.gradients.span(); }
  std::span<float> momentum_block() override { return blocks_.momentum.span(); }
  std::span<float> statistics() override { return blocks_.statistics.span(); }
  void update(float learning_rate) override {
    this->changed();
    ++this->updates_;
    blocks_.update(learning_rate);
  }

 protected:
  OptimizerBlocks blocks_;
};

/// Throws CannotRun for a precision that CPU training does not support.
void check_precision(Precision precision);

/// Throw std::invalid_argument for a number outside 1..batch, and for a label outside 0..classes -
/// 1.
void check_images(int images, const TrainingOptions& options);
void check_labels(std::span<const std::int32_t> labels, int classes);

}  // namespace doetune::workloads::onednn
