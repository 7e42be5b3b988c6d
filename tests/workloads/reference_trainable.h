// The double-precision training reference behind the interface of the engines.
#pragma once

#include <vector>

#include "workloads/engines/training.h"

namespace doetune::workloads {

class ReferenceTrainable : public TrainableNetwork {
 public:
  ReferenceTrainable(const Network& network, const TrainingOptions& options, std::uint64_t seed);

  std::span<float> input() override { return input_; }
  std::span<std::int32_t> labels() override { return labels_; }
  BatchScore gradients(int images, const GradientsReady& ready) override;
  void update(float learning_rate) override;
  BatchScore evaluate(int images) override;
  std::span<const float> logits() override { return logits_; }
  std::span<float> parameters() override { return parameters_; }
  std::span<float> gradients_block() override { return gradients_; }
  std::span<float> momentum_block() override { return momentum_; }
  std::span<float> statistics() override { return statistics_; }
  void changed() override {}

 private:
  Network network_;
  TrainingOptions options_;
  std::vector<float> input_, logits_, parameters_, gradients_, momentum_, statistics_;
  std::vector<std::int32_t> labels_;
};

}  // namespace doetune::workloads
