// The steps of a training pass on a GPU, planned without one.
#include <catch2/catch.hpp>

#include <map>

#include "described_gpu.h"
#include "training_cases.h"
#include "workloads/engines/cudnn/training_pass.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::cudnn;

namespace {

using PassCases = std::map<std::string, ConvolutionCase>;

void add_cases(const Network& network, Precision precision, int images, PassCases& cases) {
  const TensorPlan plan = plan_tensors(network, channel_multiple(precision));
  for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer) {
    if (!std::holds_alternative<Convolution>(network.layers[layer].op)) continue;
    auto [forward, backward_data, backward_filter] =
        training_convolutions(network, plan, layer, precision, images);
    if (forward.activation == Activation::leaky) forward = split(forward);
    for (const ConvolutionCase& each : {forward, backward_data, backward_filter})
      if (each.pass != Pass::backward_data || network.layers[layer].inputs[0] != kNetworkInput)
        cases.emplace(each.key(), each);
  }
}

std::vector<Network> classifiers() {
  std::vector<Network> found;
  for (const NetworkType& type : network_types()) {
    Network network = make_network(type.name, type.default_height);
    if (std::holds_alternative<ClassificationHead>(network.head))
      found.push_back(std::move(network));
  }
  return found;
}

/// The convolutions for which cuDNN has no precompiled engine.
std::string without_compiled_engine(const PassCases& cases) {
  const Descriptor h200 = device_properties(kH200);
  std::string missing;
  for (const auto& [key, each] : cases) {
    const auto found = candidates(each, {nullptr, &h200});
    if (found.empty() || found.front().compiled_at_run_time) missing += key + "\n";
  }
  return missing;
}

void every_training_step_has_its_engines(Precision precision) {
  PassCases cases;
  for (const Network& network : classifiers()) add_cases(network, precision, 32, cases);
  CHECK(cases.size() > 300);
  for (const TrainingCase& each : training_cases()) add_cases(each.network, precision, 6, cases);
  CHECK(without_compiled_engine(cases).empty());
}

/// A pass for an absent GPU, with cuDNN's preferred engines.
struct PlannedPass {
  Network network;
  TrainingOptions options;
  TensorPlan plan = plan_tensors(network, channel_multiple(options.precision));
  ParameterLayout layout{network, plan, options.precision};
  Descriptor h200 = device_properties(kH200);
  PlanCache cache{{}, "NVIDIA H200", 0};
  PlanChooser chooser{{nullptr, &h200}, {}, cache, 0};
  TrainingPass pass{{network, plan, layout, options}, options.batch, chooser};

  explicit PlannedPass(Network its_network, Precision precision = Precision::bf16, int batch = 32)
      : network(std::move(its_network)), options{.batch = batch, .precision = precision} {}
};

/// Whether two parts of the arena overlap in memory that are needed at the same time.
bool overlap(const TrainingPass& pass) {
  const auto& buffers = pass.buffers();
  const auto& at = pass.memory().offsets;
  for (std::size_t a = 0; a < buffers.size(); ++a)
    for (std::size_t b = a + 1; b < buffers.size(); ++b)
      if (buffers[a].first <= buffers[b].last && buffers[b].first <= buffers[a].last &&
          at[a] < at[b] + buffers[b].bytes && at[b] < at[a] + buffers[a].bytes)
        return true;
  return false;
}

}  // namespace

TEST_CASE("cuDNN has a compiled engine for every pass of every trained convolution in bf16",
          "[cuda][long]") {
  every_training_step_has_its_engines(Precision::bf16);
}

TEST_CASE("cuDNN has a compiled engine for every pass of every trained convolution in tf32",
          "[cuda][long]") {
  every_training_step_has_its_engines(Precision::tf32);
}

TEST_CASE("cuDNN has a compiled engine for every pass of every trained convolution in fp32",
          "[cuda][long]") {
  every_training_step_has_its_engines(Precision::fp32);
}

TEST_CASE("gradients of a convolution are posed apart from it", "[cuda]") {
  const Network network = make_network("resnet-20", 32);
  const TensorPlan plan = plan_tensors(network, channel_multiple(Precision::bf16));
  const auto passes = training_convolutions(network, plan, 1, Precision::bf16, 8);
  CHECK(passes.forward.pass == Pass::product);
  CHECK(passes.forward.activation == Activation::linear);  // batch normalisation comes between
  CHECK(passes.forward.key() != passes.backward_data.key());
  CHECK(passes.backward_data.key() != passes.backward_filter.key());
  const int last = static_cast<int>(network.layers.size()) - 1;
  const auto dense = training_convolutions(network, plan, last, Precision::bf16, 8);
  CHECK(dense.forward.pass == Pass::forward);  // with its bias
  CHECK(dense.backward_data.output == Shape{104, 1, 1});
}

TEST_CASE("a training step can be planned without a GPU, and its memory holds it", "[cuda]") {
  for (const char* name : {"resnet-20", "alexnet", "googlenet"}) {
    const PlannedPass planned(make_network(name, network_type(name).default_height));
    INFO(name);
    CHECK_FALSE(overlap(planned.pass));
    std::int64_t all = 0;
    for (const MemoryUse& buffer : planned.pass.buffers()) all += buffer.bytes;
    CHECK(planned.pass.arena_bytes() < all);
    // At least the results of convolutions are kept until their gradients are computed.
    std::int64_t kept = 0;
    for (const Layer& layer : planned.network.layers)
      if (std::holds_alternative<Convolution>(layer.op)) kept += layer.output.elements() * 32 * 2;
    CHECK(planned.pass.arena_bytes() > kept / 2);
  }
}

TEST_CASE("gradients are ready in parts, from the block's end to its beginning", "[cuda]") {
  for (const TrainingCase& each : training_cases()) {
    const PlannedPass planned(each.network, Precision::fp32, 6);
    INFO(each.name);
    std::size_t end = 0;
    std::int64_t offset = planned.layout.count();
    for (const TrainingPass::Point& point : planned.pass.points()) {
      CHECK(point.end > end);
      CHECK(point.offset < offset);
      end = point.end;
      offset = point.offset;
    }
    CHECK(offset == 0);
    CHECK_FALSE(overlap(planned.pass));
  }
  const PlannedPass resnet(make_network("resnet-50", 224), Precision::bf16, 8);
  CHECK(resnet.pass.points().size() >= 5);
  CHECK(resnet.pass.points().size() <= 9);
}

TEST_CASE("a network with a layer that is not trained is refused", "[cuda]") {
  NetworkBuilder net("reorganised", {3, 8, 8});
  net.conv(16, 3).reorg(2).global_average_pool().dense(5, Activation::linear);
  CHECK_THROWS_AS(PlannedPass(net.build(ClassificationHead{5}), Precision::fp32, 2), CannotRun);
}
