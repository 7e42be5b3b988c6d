#include "workloads/engines/onednn/onednn_training.h"

#include <algorithm>

#include "workloads/engines/onednn/cross_entropy.h"
#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_engine.h"
#include "workloads/engines/onednn/onednn_optimizer.h"
#include "workloads/engines/onednn/onednn_training_plan.h"

namespace doetune::workloads {
namespace {

using onednn::Block;
using onednn::translated;

/// A lower bound: every layer's output is kept for its backward pass.
std::int64_t min_bytes(const Network& network, const TrainingOptions& options) {
  std::int64_t numbers = 0;
  for (const Layer& layer : network.layers) numbers += layer.output.elements();
  return numbers * options.batch * bytes_of(options.precision);
}

class OnednnTrainable final : public onednn::OnednnOptimizer<TrainableNetwork> {
 public:
  OnednnTrainable(const Network& network, std::span<const float> parameters,
                  std::span<const float> statistics, const TrainingOptions& options)
      : OnednnOptimizer(network, parameters, statistics, options),
        network_(network),
        options_(options),
        input_(network.input.elements() * options.batch),
        labels_(options.batch, 0),
        logits_(network.output().elements() * options.batch) {
    plans_.of(options.batch);
  }

  std::span<float> input() override { return input_.span(); }
  std::span<std::int32_t> labels() override { return labels_; }
  std::span<const float> logits() override { return logits_.span(); }
  void changed() override { evaluator_.reset(); }

  BatchScore gradients(int images, const GradientsReady& ready) override {
    check(images);
    changed();  // the running statistics
    return translated([&] {
      onednn::TrainingPlan& plan = plans_.of(images);
      plan.forward(stream_);
      return plan.backward(stream_, ready);
    });
  }

  BatchScore evaluate(int images) override {
    check(images);
    if (evaluator_ == nullptr) {
      folded_ = folded_weights(network_, blocks_.parameters.span(), blocks_.statistics.span());
      evaluator_ = inference_->compile(network_, folded_,
                                       {options_.batch, options_.precision, options_.threads});
    }
    std::ranges::copy(input_.span().first(images * network_.input.elements()),
                      evaluator_->input().begin());
    evaluator_->infer(images);
    const auto count = static_cast<std::size_t>(images * network_.output().elements());
    const auto logits = evaluator_->output().first(count);
    std::ranges::copy(logits, logits_.data());
    return softmax_cross_entropy(logits, std::span(labels_).first(images), {});
  }

 private:
  void check(int images) const {
    onednn::check_images(images, options_);
    onednn::check_labels(std::span(labels_).first(static_cast<std::size_t>(images)),
                         network_.output().channels);
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Network network_;
  TrainingOptions options_;
  Block input_;
  std::vector<std::int32_t> labels_;
  Block logits_;
  onednn::TrainingPlans plans_{
      engine_,
      network_,
      options_,
      {input_.data(), labels_.data(), logits_.data(), blocks_.parameters.data(),
       blocks_.gradients.data(), blocks_.statistics.data(), &updates_, &options_.first_image}};
  std::unique_ptr<Engine> inference_ = make_onednn_engine({});
  std::vector<float> folded_;  // read again by the evaluator for each new number of images
  std::unique_ptr<CompiledNetwork> evaluator_;  // with the current parameters and statistics
};

}  // namespace

std::unique_ptr<TrainableNetwork> make_onednn_trainable(const Network& network,
                                                        std::span<const float> parameters,
                                                        std::span<const float> statistics,
                                                        const TrainingOptions& options) {
  if (!std::holds_alternative<ClassificationHead>(network.head))
    throw CannotRun(network.name + " is not a classifier: only classifiers can be trained");
  onednn::check_precision(options.precision);
  return translated([&]() -> std::unique_ptr<TrainableNetwork> {
    onednn::require_memory(min_bytes(network, options));
    return std::make_unique<OnednnTrainable>(network, parameters, statistics, options);
  });
}

}  // namespace doetune::workloads
