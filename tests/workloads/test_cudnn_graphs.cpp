#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "described_gpu.h"
#include "workloads/engines/cudnn/engines.h"
#include "workloads/engines/cudnn/plan_chooser.h"

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

TEST_CASE("cuDNN has a compiled engine for every convolution of every network in bf16",
          "[cuda][long]") {
  every_convolution_has_an_engine(Precision::bf16);
}

TEST_CASE("cuDNN has a compiled engine for every convolution of every network in fp16",
          "[cuda][long]") {
  every_convolution_has_an_engine(Precision::fp16);
}

TEST_CASE("cuDNN has a compiled engine for every convolution of every network in fp32",
          "[cuda][long]") {
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

namespace {

/// Makes plans of the proposals that would be timed on the GPU, until `timed` of them can be used,
/// and returns the number of these. cuDNN also proposes engines that then refuse the graph.
int usable_plans(const ConvolutionCase& problem, const Target& target, int timed) {
  int usable = 0;
  for (const Candidate& candidate : candidates(problem, target)) {
    if (usable == timed) break;
    try {
      const Plan plan(problem, candidate.configuration, target);
      usable += plan.workspace_bytes() <= kMaxWorkspaceBytes ? 1 : 0;
    } catch (const Error&) {
    }
  }
  return usable;
}

/// Checks every `step`-th convolution, others for each GPU.
void favourites_become_plans(std::string_view gpu, std::size_t step) {
  constexpr int kTimed = 8;
  const Descriptor properties = device_properties(gpu);
  const Target target{nullptr, &properties};
  std::size_t at = gpu.size();
  for (const Precision precision :
       {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16})
    for (const int images : {1, 32})
      for (const auto& [key, each] : all_cases(precision, images)) {
        if (at++ % step != 0) continue;
        INFO(key);
        CHECK(usable_plans(always_there(each), target, kTimed) > 0);
      }
}

}  // namespace

TEST_CASE("the eight favourite engines of convolutions become plans on an A100, H100 and H200",
          "[cuda]") {
  for (const std::string_view gpu : {kA100, kH100, kH200}) favourites_become_plans(gpu, 40);
}

// Minutes: for hand, after a change of the graphs or of cuDNN.
TEST_CASE("the eight favourite engines of all convolutions become plans on three GPUs",
          "[.plans]") {
  for (const std::string_view gpu : {kA100, kH100, kH200}) favourites_become_plans(gpu, 1);
}

TEST_CASE("for an absent GPU cuDNN gives precompiled engines only, so for leaky ReLU none",
          "[cuda]") {
  const Descriptor h200 = device_properties(kH200);
  const Target target{nullptr, &h200};
  ConvolutionCase problem = small_case();
  for (const Activation activation : {Activation::linear, Activation::relu, Activation::leaky}) {
    problem.activation = activation;
    const auto found = candidates(problem, target);
    CHECK(found.empty() == (activation == Activation::leaky));
    CHECK(std::ranges::none_of(found, &Candidate::compiled_at_run_time));
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
