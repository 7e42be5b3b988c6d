#include "workloads/engines/onednn/onednn_stage.h"

#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_optimizer.h"
#include "workloads/engines/onednn/onednn_training_plan.h"

namespace doetune::workloads {
namespace {

using onednn::Block;
using onednn::translated;

bool ends_network(const Network& stage) { return !std::holds_alternative<NoHead>(stage.head); }

bool begins_network(const Network& stage) {
  const Layer& first = stage.layers.front();
  return !std::holds_alternative<Route>(first.op) || first.inputs.front() != kNetworkInput;
}

/// A micro-batch in flight: its host buffers, and the memory between the passes.
struct Slot {
  Slot(const dnnl::engine& engine, const Network& stage, onednn::OptimizerBlocks& blocks,
       const std::int64_t* updates)
      : input(stage.input.elements() * blocks.options.batch),
        labels(static_cast<std::size_t>(blocks.options.batch), 0),
        output(stage.output().elements() * blocks.options.batch),
        output_gradient(ends_network(stage) ? 0 : std::ssize(output.span())),
        input_gradient(begins_network(stage) ? 0 : std::ssize(input.span())),
        plans(engine, stage, blocks.options,
              {input.data(), labels.data(), output.data(), blocks.parameters.data(),
               blocks.gradients.data(), blocks.statistics.data(), updates, &first_image,
               ends_network(stage) ? nullptr : output_gradient.data(),
               begins_network(stage) ? nullptr : input_gradient.data()}) {
    plans.of(blocks.options.batch);
  }

  Block input;
  std::vector<std::int32_t> labels;
  Block output;
  Block output_gradient;
  Block input_gradient;
  std::int64_t first_image = 0;
  int images = 0;  // in the forward pass
  onednn::TrainingPlans plans;
};

class OnednnStage final : public onednn::OnednnOptimizer<TrainableStage> {
 public:
  OnednnStage(const Network& stage, std::span<const float> parameters,
              std::span<const float> statistics, const TrainingOptions& options, int slots)
      : OnednnOptimizer(stage, parameters, statistics, options), stage_(stage) {
    for (int slot = 0; slot < slots; ++slot)
      slots_.push_back(std::make_unique<Slot>(engine_, stage_, blocks_, &updates_));
  }

  std::span<float> input(int slot) override { return slots_.at(slot)->input.span(); }
  std::span<std::int32_t> labels(int slot) override { return slots_.at(slot)->labels; }
  std::span<const float> output(int slot) override { return slots_.at(slot)->output.span(); }
  std::span<float> output_gradient(int slot) override {
    return slots_.at(slot)->output_gradient.span();
  }
  std::span<const float> input_gradient(int slot) override {
    return slots_.at(slot)->input_gradient.span();
  }
  void changed() override {}

  void forward(int slot, int images, std::int64_t first_image) override {
    onednn::check_images(images, blocks_.options);
    Slot& used = *slots_.at(slot);
    used.images = images;
    used.first_image = first_image;
    translated([&] { used.plans.of(images).forward(stream_); });
  }

  BatchScore backward(int slot) override {
    Slot& used = *slots_.at(slot);
    const auto images = static_cast<std::size_t>(used.images);
    if (ends_network(stage_))
      onednn::check_labels(std::span(used.labels).first(images), stage_.output().channels);
    return translated([&] { return used.plans.of(used.images).backward(stream_, {}); });
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Network stage_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace

std::unique_ptr<TrainableStage> make_onednn_stage(const Network& stage,
                                                  std::span<const float> parameters,
                                                  std::span<const float> statistics,
                                                  const TrainingOptions& options, int slots) {
  onednn::check_precision(options.precision);
  return translated([&]() -> std::unique_ptr<TrainableStage> {
    return std::make_unique<OnednnStage>(stage, parameters, statistics, options, slots);
  });
}

}  // namespace doetune::workloads
