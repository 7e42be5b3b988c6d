#include "workloads/engines/onednn/onednn_training.h"

#include <algorithm>
#include <map>

#include "workloads/engines/onednn/cross_entropy.h"
#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_engine.h"
#include "workloads/engines/onednn/onednn_memory.h"
#include "workloads/engines/onednn/onednn_training_plan.h"

namespace doetune::workloads {
namespace {

using onednn::Buffer;
using onednn::TrainingPlan;
using onednn::translated;
using onednn::use_threads;

/// Floats in pages of their own.
class Block {
 public:
  explicit Block(std::int64_t count) : count_(count), buffer_(count * sizeof(float)) {}
  explicit Block(std::span<const float> values) : Block(std::ssize(values)) {
    std::ranges::copy(values, buffer_.floats());
  }
  std::span<float> span() const { return {buffer_.floats(), static_cast<std::size_t>(count_)}; }
  float* data() const { return buffer_.floats(); }

 private:
  std::int64_t count_;
  Buffer buffer_;
};

class OnednnTrainable final : public TrainableNetwork {
 public:
  OnednnTrainable(const Network& network, std::span<const float> parameters,
                  std::span<const float> statistics, const TrainingOptions& options)
      : network_(network),
        layout_(parameter_layout(network)),
        options_(options),
        input_(network.input.elements() * options.batch),
        labels_(options.batch, 0),
        logits_(network.output().elements() * options.batch),
        parameters_(parameters),
        gradients_(std::ssize(parameters)),
        momentum_(std::ssize(parameters)),
        statistics_(statistics) {
    use_threads(options.threads);
    plan_for(options.batch);
  }

  std::span<float> input() override { return input_.span(); }
  std::span<std::int32_t> labels() override { return labels_; }
  std::span<const float> logits() override { return logits_.span(); }
  std::span<float> parameters() override { return parameters_.span(); }
  std::span<float> gradients_block() override { return gradients_.span(); }
  std::span<float> momentum_block() override { return momentum_.span(); }
  std::span<float> statistics() override { return statistics_.span(); }
  void changed() override { evaluator_.reset(); }

  BatchScore gradients(int images, const GradientsReady& ready) override {
    check(images);
    changed();  // the running statistics
    return translated([&] { return plan_for(images).run(stream_, ready); });
  }

  void update(float learning_rate) override {
    use_threads(options_.threads);
    changed();
    ++updates_;
    // In one pass over memory, and all tensors in one parallel region: most of them are small.
#pragma omp parallel
    for (const ParameterTensor& tensor : layout_) {
      const float decay = tensor.kind == ParameterKind::weights ? options_.weight_decay : 0.0F;
      const float momentum = options_.momentum;
      float* w = parameters_.data() + tensor.offset;
      float* v = momentum_.data() + tensor.offset;
      const float* g = gradients_.data() + tensor.offset;
#pragma omp for simd nowait
      for (std::int64_t i = 0; i < tensor.count; ++i) {
        v[i] = momentum * v[i] + (g[i] + decay * w[i]);
        w[i] -= learning_rate * v[i];
      }
    }
  }

  BatchScore evaluate(int images) override {
    check(images);
    if (evaluator_ == nullptr) {
      folded_ = folded_weights(network_, parameters_.span(), statistics_.span());
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
    if (images < 1 || images > options_.batch)
      throw std::invalid_argument("images outside 1..batch");
    const int classes = network_.output().channels;
    for (const std::int32_t label : std::span(labels_).first(images))
      if (label < 0 || label >= classes)
        throw std::invalid_argument("a label is " + std::to_string(label) + ", outside 0.." +
                                    std::to_string(classes - 1));
  }

  /// All plans share the arena, which holds nothing between steps.
  TrainingPlan& plan_for(int images) {
    use_threads(options_.threads);
    auto& plan = plans_[images];
    if (plan != nullptr) return *plan;
    auto made = std::make_unique<TrainingPlan>(
        engine_, network_, options_, images,
        onednn::TrainingBuffers{input_.data(), labels_.data(), logits_.data(), parameters_.data(),
                                gradients_.data(), statistics_.data(), &updates_});
    if (made->bytes() > arena_bytes_) {
      arena_bytes_ = made->bytes();
      arena_ = std::make_unique<Buffer>(arena_bytes_);
      for (const auto& [size, other] : plans_)
        if (other != nullptr) other->bind(arena_->at(0));
    }
    made->bind(arena_->at(0));
    plan = std::move(made);
    return *plan;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Network network_;
  std::vector<ParameterTensor> layout_;
  TrainingOptions options_;
  Block input_;
  std::vector<std::int32_t> labels_;
  Block logits_;
  Block parameters_;
  Block gradients_;
  Block momentum_;
  Block statistics_;
  std::size_t arena_bytes_ = 0;
  std::unique_ptr<Buffer> arena_;
  std::map<int, std::unique_ptr<TrainingPlan>> plans_;
  std::unique_ptr<Engine> inference_ = make_onednn_engine({});
  std::vector<float> folded_;  // the evaluator reads them at each new number of images
  std::unique_ptr<CompiledNetwork> evaluator_;  // of the current parameters and statistics
};

}  // namespace

std::unique_ptr<TrainableNetwork> make_onednn_trainable(const Network& network,
                                                        std::span<const float> parameters,
                                                        std::span<const float> statistics,
                                                        const TrainingOptions& options) {
  if (!std::holds_alternative<ClassificationHead>(network.head))
    throw CannotRun(network.name + " is no classifier: only classifiers are trained");
  if (options.precision != Precision::fp32 && options.precision != Precision::bf16)
    throw CannotRun("the CPU trains in fp32 and bf16, not in " +
                    std::string(name_of(options.precision)));
  return translated([&]() -> std::unique_ptr<TrainableNetwork> {
    return std::make_unique<OnednnTrainable>(network, parameters, statistics, options);
  });
}

}  // namespace doetune::workloads
