#include "workloads/engines/onednn/onednn_engine.h"

#include <map>

#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/engines/onednn/onednn_plan.h"
#include "workloads/engines/onednn/onednn_stage.h"
#include "workloads/engines/onednn/onednn_training.h"

namespace doetune::workloads {
namespace {

using onednn::Buffer;
using onednn::Plan;
using onednn::translated;
using onednn::WeightStore;

class OnednnNetwork final : public CompiledNetwork {
 public:
  OnednnNetwork(const dnnl::engine& engine, const Network& network, std::span<const float> weights,
                const CompileOptions& options)
      : engine_(engine),
        stream_(engine),
        network_(network),
        options_(options),
        weights_(engine, network_, weights),
        input_(network.input.elements() * options.batch * sizeof(float)),
        output_(network.output().elements() * options.batch * sizeof(float)),
        resizer_({network.input.height, network.input.width}) {
    plan_for(options.batch);
  }

  std::span<float> input() override {
    return {input_.floats(), static_cast<std::size_t>(network_.input.elements() * options_.batch)};
  }

  std::span<const float> output() override {
    return {output_.floats(),
            static_cast<std::size_t>(network_.output().elements() * options_.batch)};
  }

  int lanes() const override { return 1; }

  void load(int image, const DecodedImage& picture, int frame) override {
    const auto elements = static_cast<std::size_t>(network_.input.elements());
    resizer_(picture.view, input().subspan(image * elements, elements), network_.input.channels,
             3 * frame);
  }

  void submit(int images) override {
    if (images < 1 || images > options_.batch)
      throw std::invalid_argument("submit: images outside 1..batch");
    translated([&] { plan_for(images).run(stream_); });
  }

  void wait() override {}

  std::vector<Detection> detections(int image) override {
    const auto elements = static_cast<std::size_t>(network_.output().elements());
    return suppress_overlaps(
        decode_boxes(output().subspan(image * elements, elements), network_.output(),
                     std::get<DetectionHead>(network_.head), options_.confidence_threshold),
        options_.overlap_threshold);
  }

  std::int64_t device_bytes() const override { return 0; }

 private:
  Plan& plan_for(int images) {
    onednn::use_threads(options_.threads);
    auto& plan = plans_[images];
    if (plan == nullptr) {
      auto made = std::make_unique<Plan>(engine_, network_, weights_, options_.precision, images);
      made->build(input_.floats(), output_.floats());
      plan = std::move(made);
    }
    return *plan;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  Network network_;
  CompileOptions options_;
  WeightStore weights_;
  Buffer input_;
  Buffer output_;
  Resizer resizer_;
  std::map<int, std::unique_ptr<Plan>> plans_;
};

class OnednnEngine final : public Engine {
 public:
  std::unique_ptr<CompiledNetwork> compile(const Network& network, std::span<const float> weights,
                                           const CompileOptions& options) override {
    if (options.precision != Precision::fp32 && options.precision != Precision::bf16)
      throw CannotRun("the CPU engine has no " + std::string(name_of(options.precision)) +
                      "; it runs fp32 and bf16");
    return translated([&]() -> std::unique_ptr<CompiledNetwork> {
      return std::make_unique<OnednnNetwork>(engine_, network, weights, options);
    });
  }

  std::unique_ptr<TrainableNetwork> train(const Network& network, std::span<const float> parameters,
                                          std::span<const float> statistics,
                                          const TrainingOptions& options) override {
    return make_onednn_trainable(network, parameters, statistics, options);
  }

  std::unique_ptr<TrainableStage> train_stage(const Network& stage,
                                              std::span<const float> parameters,
                                              std::span<const float> statistics,
                                              const TrainingOptions& options, int slots) override {
    return make_onednn_stage(stage, parameters, statistics, options, slots);
  }

  std::string description() const override {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
};

}  // namespace

std::unique_ptr<Engine> make_onednn_engine(const EngineOptions&) {
  return std::make_unique<OnednnEngine>();
}

}  // namespace doetune::workloads
