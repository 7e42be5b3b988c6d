#include "reference_trainable.h"

#include "reference_training.h"

namespace doetune::workloads {
namespace {

std::vector<double> doubles(std::span<const float> values) {
  return {values.begin(), values.end()};
}

}  // namespace

ReferenceTrainable::ReferenceTrainable(const Network& network, const TrainingOptions& options,
                                       std::uint64_t seed)
    : network_(network),
      options_(options),
      input_(static_cast<std::size_t>(options.batch * network.input.elements())),
      parameters_(static_cast<std::size_t>(doetune::workloads::parameters(network))),
      gradients_(parameters_.size()),
      momentum_(parameters_.size()),
      statistics_(static_cast<std::size_t>(statistics_count(network))),
      labels_(static_cast<std::size_t>(options.batch)) {
  initial_parameters(network_, seed, parameters_);
  initial_statistics(network_, statistics_);
}

BatchScore ReferenceTrainable::gradients(int images, const GradientsReady& ready) {
  const auto size = static_cast<std::size_t>(images);
  const ReferencePass pass =
      reference_gradients(network_, doubles(parameters_),
                          std::span<const float>(input_).first(
                              size * static_cast<std::size_t>(network_.input.elements())),
                          std::span<const std::int32_t>(labels_).first(size),
                          {options_.seed, updates_, options_.first_image});
  gradients_.assign(pass.gradients.begin(), pass.gradients.end());
  if (ready) ready(0);
  return {pass.loss, pass.correct};
}

void ReferenceTrainable::update(float learning_rate) {
  ++updates_;
  for (const ParameterTensor& tensor : parameter_layout(network_)) {
    const float decay = tensor.kind == ParameterKind::weights ? options_.weight_decay : 0.0F;
    for (auto i = static_cast<std::size_t>(tensor.offset);
         i < static_cast<std::size_t>(tensor.offset + tensor.count); ++i) {
      momentum_[i] = options_.momentum * momentum_[i] + gradients_[i] + decay * parameters_[i];
      parameters_[i] -= learning_rate * momentum_[i];
    }
  }
}

BatchScore ReferenceTrainable::evaluate(int images) {
  const auto size = static_cast<std::size_t>(images);
  const ReferencePass pass =
      reference_evaluate(network_, doubles(parameters_), doubles(statistics_),
                         std::span<const float>(input_).first(
                             size * static_cast<std::size_t>(network_.input.elements())),
                         std::span<const std::int32_t>(labels_).first(size));
  logits_.assign(pass.logits.begin(), pass.logits.end());
  return {pass.loss, pass.correct};
}

}  // namespace doetune::workloads
