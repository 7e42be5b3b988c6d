#include <catch2/catch.hpp>

#include <algorithm>

#include "base/random.h"
#include "workloads/engines/tensor_plan.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// The maximum memory in use at any step, a lower bound of the arena.
std::int64_t min_bytes(const std::vector<MemoryUse>& uses) {
  std::int64_t peak = 0;
  for (const MemoryUse& at : uses) {
    std::int64_t live = 0;
    for (const MemoryUse& use : uses)
      if (use.first <= at.first && at.first <= use.last) live += use.bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

bool disjoint(const std::vector<MemoryUse>& uses, const MemoryPlan& plan) {
  for (std::size_t a = 0; a < uses.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const bool same_time = uses[a].first <= uses[b].last && uses[b].first <= uses[a].last;
      const bool same_position = plan.offsets[a] < plan.offsets[b] + uses[b].bytes &&
                                 plan.offsets[b] < plan.offsets[a] + uses[a].bytes;
      if (same_time && same_position) return false;
    }
  return true;
}

std::vector<MemoryUse> random_uses(std::uint64_t seed) {
  std::vector<MemoryUse> uses;
  for (int i = 0; i < 60; ++i) {
    const auto draw = [&](int which, std::uint64_t below) {
      return random_bits(seed, 3 * i + which) % below;
    };
    const int first = static_cast<int>(draw(0, 40));
    uses.push_back({static_cast<std::int64_t>(1 + draw(1, 5000)), first,
                    first + static_cast<int>(draw(2, 8))});
  }
  return uses;
}

std::vector<MemoryUse> uses_of(const TensorPlan& plan) {
  std::vector<MemoryUse> uses;
  for (const PlannedTensor& tensor : plan.tensors)
    uses.push_back({tensor.shape.elements(), tensor.first, tensor.last});
  return uses;
}

}  // namespace

TEST_CASE("what is needed at the same time lies apart", "[tensor_plan]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto uses = random_uses(seed);
    const MemoryPlan plan = plan_memory(uses, 16);
    CHECK(disjoint(uses, plan));
    CHECK(plan.bytes >= min_bytes(uses));
    CHECK(std::ranges::all_of(plan.offsets, [](std::int64_t at) { return at % 16 == 0; }));
    CHECK(std::ranges::all_of(uses, [&](const MemoryUse& use) {
      return plan.offsets[&use - uses.data()] + use.bytes <= plan.bytes;
    }));
  }
}

TEST_CASE("a chain needs its two largest neighbours", "[tensor_plan]") {
  const std::vector<MemoryUse> chain{{100, 0, 1}, {300, 1, 2}, {200, 2, 3}, {50, 3, 4}};
  CHECK(plan_memory(chain, 1).bytes == 500);
}

TEST_CASE("the arena of every network is near its bound", "[tensor_plan]") {
  for (const NetworkType& type : network_types()) {
    INFO(type.name);
    const auto uses = uses_of(plan_tensors(make_network(type.name, type.default_height), 8));
    const MemoryPlan plan = plan_memory(uses, 1);
    CHECK(disjoint(uses, plan));
    CHECK(100 * plan.bytes <= 115 * min_bytes(uses));
  }
}

TEST_CASE("results lie apart from what is read later", "[tensor_plan]") {
  // A layer's inputs are still in use when it writes, and parts of a concatenation never overlap.
  for (const NetworkType& type : network_types()) {
    INFO(type.name);
    const Network network = make_network(type.name, type.default_height);
    const TensorPlan plan = plan_tensors(network, 8);
    for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer) {
      const ChannelView& out = plan.views[layer];
      CHECK(plan.tensors[out.tensor].first <= layer);
      CHECK(out.first_channel + out.channels <= out.pitch);
      CHECK(out.channels % 8 == 0);
      for (const int input : network.layers[layer].inputs)
        if (input != kNetworkInput) CHECK(plan.tensors[plan.views[input].tensor].last >= layer);
    }
  }
}

TEST_CASE("modules of aligned channels join in place", "[tensor_plan]") {
  for (const char* name : {"googlenet", "inception-v3"}) {
    const Network network = make_network(name, network_type(name).default_height);
    const TensorPlan plan = plan_tensors(network, 8);
    for (int layer = 0; layer < static_cast<int>(network.layers.size()); ++layer) {
      if (!std::holds_alternative<Route>(network.layers[layer].op)) continue;
      int at = 0;
      for (const int input : network.layers[layer].inputs) {
        CHECK(plan.in_place(layer, input, at));
        at += network.shape_of(input).channels;
      }
    }
  }
}

TEST_CASE("parts of odd channels, twice joined or of other tensors are copied", "[tensor_plan]") {
  NetworkBuilder net("joins", {3, 8, 8});
  const int odd = net.conv(12, 3).last();
  const int even = net.from(odd).conv(16, 3).last();
  const int first = net.route({even, odd}).last();
  const int second = net.route({even, even}).conv(6, 1).last() - 1;
  const TensorPlan plan = plan_tensors(net.build(DetectionHead{{{1.0F, 1.0F}}, 1}), 8);
  CHECK(plan.in_place(first, even, 0));
  CHECK_FALSE(plan.in_place(first, odd, 16));
  CHECK_FALSE(plan.in_place(second, even, 0));
  CHECK_FALSE(plan.in_place(second, even, 16));
  CHECK(plan.views[first].pitch == 32);
  CHECK(plan.views[even].pitch == 32);
  CHECK(plan.views[even].channels == 16);
  CHECK(plan.views[odd].channels == 16);  // padded by four of zeros
}

TEST_CASE("branches back and residual sums share a tensor", "[tensor_plan]") {
  NetworkBuilder net("residual", {3, 8, 8});
  const int in = net.conv(8, 3).last();
  const int branch = net.conv(Convolution{8, {3, 3}, 1, {1, 1}, Activation::linear}).last();
  const int sum = net.sum(in, branch).last();
  const int back = net.route({sum}).conv(6, 1).last() - 1;
  const TensorPlan plan = plan_tensors(net.build(DetectionHead{{{1.0F, 1.0F}}, 1}), 8);
  CHECK(plan.views[branch].tensor == plan.views[sum].tensor);
  CHECK(plan.views[in].tensor != plan.views[sum].tensor);
  CHECK(plan.views[back].tensor == plan.views[sum].tensor);
}
