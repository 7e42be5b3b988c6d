#include "workloads/engines/tensor_plan.h"

#include <algorithm>
#include <numeric>

namespace doetune::workloads {
namespace {

int rounded_up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

/// The layer whose tensor holds each layer's result, and the channel where it starts.
class Owners {
 public:
  Owners(const Network& network, const std::vector<int>& fused, int multiple)
      : network_(network),
        multiple_(multiple),
        parent_(network.layers.size(), kNone),
        first_channel_(network.layers.size(), 0) {
    const auto layers = static_cast<int>(network.layers.size());
    for (int layer = 0; layer < layers; ++layer)
      if (fused[layer] >= 0) parent_[layer] = fused[layer];
    for (int layer = 0; layer < layers; ++layer)
      if (std::holds_alternative<Route>(network.layers[layer].op)) add_route(layer);
  }

  struct Position {
    int owner;
    int first_channel;
  };
  Position position_of(int layer) const {
    Position position{layer, 0};
    for (; parent_[position.owner] != kNone; position.owner = parent_[position.owner])
      position.first_channel += first_channel_[position.owner];
    return position;
  }

 private:
  static constexpr int kNone = -1;

  void add_route(int route) {
    const auto& inputs = network_.layers[route].inputs;
    if (inputs.size() == 1) {
      if (inputs[0] != kNetworkInput) parent_[route] = inputs[0];
      return;
    }
    int at = 0;
    for (const int input : inputs) {
      if (input != kNetworkInput && fits(route, input, at)) {
        const int owner = position_of(input).owner;
        parent_[owner] = route;
        first_channel_[owner] = at;
      }
      at += network_.shape_of(input).channels;
    }
  }

  /// Whether the input is a whole tensor that can be part of the route's.
  bool fits(int route, int input, int at) const {
    const int owner = position_of(input).owner;
    const int channels = network_.shape_of(input).channels;
    return owner != route && network_.shape_of(owner) == network_.shape_of(input) &&
           at % multiple_ == 0 && channels % multiple_ == 0;
  }

  const Network& network_;
  int multiple_;
  std::vector<int> parent_;
  std::vector<int> first_channel_;
};

}  // namespace

TensorPlan plan_tensors(const Network& network, int channel_multiple) {
  const auto layers = static_cast<int>(network.layers.size());
  TensorPlan plan;
  plan.fused = fused_sums(network);
  const int image_channels = rounded_up(network.input.channels, channel_multiple);
  plan.image = {kNetworkInput, 0, image_channels, image_channels};
  const Owners owners(network, plan.fused, channel_multiple);
  std::vector<int> tensor_of_owner(network.layers.size(), -1);
  for (int layer = 0; layer < layers; ++layer) {
    const auto [owner, first_channel] = owners.position_of(layer);
    Shape shape = network.shape_of(owner);
    shape.channels = rounded_up(shape.channels, channel_multiple);
    int& tensor = tensor_of_owner[owner];
    if (tensor < 0) {
      tensor = static_cast<int>(plan.tensors.size());
      plan.tensors.push_back({shape, layer, layer});
    }
    const int own = network.shape_of(layer).channels;
    const bool whole = own == network.shape_of(owner).channels;
    plan.views.push_back({tensor, first_channel, whole ? shape.channels : own, shape.channels});
    for (const int input : network.layers[layer].inputs)
      if (input != kNetworkInput) plan.tensors[plan.views[input].tensor].last = layer;
  }
  plan.tensors[plan.views.back().tensor].last = layers;
  return plan;
}

bool TensorPlan::in_place(int route, int input, int first_channel) const {
  const ChannelView& joined = views[route];
  const ChannelView& part = view_of(input);
  return part.tensor == joined.tensor && part.first_channel == joined.first_channel + first_channel;
}

MemoryPlan plan_memory(std::span<const MemoryUse> uses, std::int64_t alignment) {
  MemoryPlan plan;
  plan.offsets.assign(uses.size(), 0);
  std::vector<std::size_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return uses[i].bytes; });
  const auto end_of = [&](std::size_t i) {
    return (plan.offsets[i] + uses[i].bytes + alignment - 1) / alignment * alignment;
  };
  std::vector<std::size_t> placed;  // by offset
  for (const std::size_t use : order) {
    std::int64_t at = 0;
    for (const std::size_t other : placed) {
      if (uses[use].first > uses[other].last || uses[other].first > uses[use].last) continue;
      if (at + uses[use].bytes <= plan.offsets[other]) break;
      at = std::max(at, end_of(other));
    }
    plan.offsets[use] = at;
    plan.bytes = std::max(plan.bytes, end_of(use));
    const auto before =
        std::ranges::upper_bound(placed, at, {}, [&](std::size_t i) { return plan.offsets[i]; });
    placed.insert(before, use);
  }
  return plan;
}

}  // namespace doetune::workloads
