#include <catch2/catch.hpp>

#include <map>

#include "described_gpu.h"
#include "workloads/engines/cudnn/engines.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::cudnn;

namespace {

/// All distinct convolutions of the bundled networks at their default sizes.
std::map<std::string, ConvolutionCase> all_cases(Precision precision, int images) {
  std::map<std::string, ConvolutionCase> cases;
  for (const NetworkType& type : network_types()) {
    const Network network = make_network(type.name, type.default_height);
    const TensorPlan plan = plan_tensors(network, channel_multiple(precision));
    for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer) {
      if (!std::holds_alternative<Convolution>(network.layers[layer].op)) continue;
      const ConvolutionCase each = convolution_case(network, plan, layer, precision, images);
      cases.emplace(each.key(), each);
    }
  }
  return cases;
}

std::size_t convolutions() {
  std::size_t count = 0;
  for (const NetworkType& type : network_types())
    for (const Layer& layer : make_network(type.name, type.default_height).layers)
      count += std::holds_alternative<Convolution>(layer.op);
  return count;
}

/// A case that would need a run-time compiled engine may use the split form: the engine then adds
/// and activates in our own kernel.
ConvolutionCase always_there(const ConvolutionCase& each) {
  return each.activation == Activation::leaky ? split(each) : each;
}

ConvolutionCase small_case() {
  return {8, Precision::bf16, {64, 28, 28}, {64, 28, 28}, 64, 64, 0, {3, 3}, 1, {1, 1}};
}

}  // namespace

/// Whether cuDNN's first proposal is precompiled.
bool has_compiled_engine(const ConvolutionCase& problem, const Target& target) {
  const auto found = candidates(problem, target);
  return !found.empty() && !found.front().compiled_at_run_time;
}

void every_convolution_has_an_engine(Precision precision) {
  const Descriptor h200 = device_properties(kH200);
  const Target target{nullptr, &h200};
  for (const int images : {1, 32})
    for (const auto& [key, each] : all_cases(precision, images)) {
      INFO(key);
      CHECK(has_compiled_engine(always_there(each), target));
    }
}

TEST_CASE("cuDNN has a compiled engine for every convolution of every network in bf16", "[cuda]") {
  every_convolution_has_an_engine(Precision::bf16);
}

TEST_CASE("cuDNN has a compiled engine for every convolution of every network in fp16", "[cuda]") {
  every_convolution_has_an_engine(Precision::fp16);
}

TEST_CASE("cuDNN has a compiled engine for every convolution of every network in fp32", "[cuda]") {
  every_convolution_has_an_engine(Precision::fp32);
}

TEST_CASE("tf32 may use what fp32 may not: tensor cores", "[cuda]") {
  const Descriptor h200 = device_properties(kH200);
  const Target target{nullptr, &h200};
  ConvolutionCase problem = small_case();
  problem.precision = Precision::fp32;
  const auto exact = candidates(problem, target);
  problem.precision = Precision::tf32;
  CHECK(candidates(problem, target).size() > exact.size());
  CHECK_FALSE(exact.empty());
}

TEST_CASE("equal layers share a case, and what differs has another", "[cuda]") {
  const ConvolutionCase first = small_case();
  for (int change = 0; change < 6; ++change) {
    ConvolutionCase other = first;
    if (change == 0) other.images = 9;
    if (change == 1) other.stride = 2;
    if (change == 2) other.activation = Activation::relu;
    if (change == 3) other.residual_pitch = 64;
    if (change == 4) other.output_pitch = 128;
    if (change == 5) other.fusion = Fusion::bias;
    CHECK(other.key() != first.key());
  }
  CHECK(all_cases(Precision::bf16, 1).size() < convolutions() / 2);  // networks repeat blocks
}

TEST_CASE("the favourite engine of a convolution becomes a plan", "[cuda]") {
  const Descriptor h200 = device_properties(kH200);
  const Target target{nullptr, &h200};
  for (const auto& [key, each] : all_cases(Precision::bf16, 32)) {
    INFO(key);
    const ConvolutionCase problem = always_there(each);
    const Plan plan(problem, candidates(problem, target).at(0).configuration, target);
    CHECK(plan.workspace_bytes() >= 0);
  }
}

TEST_CASE("a convolution that cannot be has no engine", "[cuda]") {
  const Descriptor h200 = device_properties(kH200);
  const Target target{nullptr, &h200};
  CHECK(has_compiled_engine(small_case(), target));
  ConvolutionCase overlapping = small_case();
  overlapping.output_pitch = overlapping.output.channels - 4;  // pixels that overlap
  CHECK_FALSE(has_compiled_engine(overlapping, target));
  ConvolutionCase too_high = small_case();
  ++too_high.output.height;
  CHECK_THROWS_WITH(candidates(too_high, target), Catch::Contains("BAD_PARAM"));
}

TEST_CASE("a device that is described in part is refused", "[cuda]") {
  CHECK_THROWS_WITH(device_properties(R"({"warpSize": 32})"), Catch::Contains("maxGridSize"));
}
