#include "workloads/networks/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "workloads/networks/parameters.h"
#include "workloads/networks/roofline.h"

namespace doetune::workloads {
namespace {

/// Layers [begin, end) as a network.
Network part(const Network& network, int begin, int end) {
  Network result;
  const int last = static_cast<int>(network.layers.size());
  result.name = fmt::format("layers {} to {} of {}", begin, end - 1, network.name);
  result.input = network.shape_of(begin - 1);
  result.head = end == last ? network.head : Head(NoHead{});
  if (begin > 0) result.layers.push_back({Route{}, {kNetworkInput}, result.input});
  for (int layer = begin; layer < end; ++layer) {
    Layer copy = network.layers[layer];
    if (begin > 0)
      for (int& input : copy.inputs) input -= begin - 1;
    result.layers.push_back(std::move(copy));
  }
  return result;
}

/// The end of each stage, as a number of layers from the network's start.
using Ends = std::vector<int>;

class Partition {
 public:
  Partition(const Network& network, int stages) : network_(network), stages_(stages) {
    for (const int cut : cuts(network)) ends_.push_back(cut + 1);
    ends_.push_back(static_cast<int>(network.layers.size()));
    const auto layers = layer_work(network, 1, 0);
    double sum = 0;
    for (int layer = 0; const int end : ends_) {
      for (; layer < end; ++layer) sum += layers[layer].multiply_accumulates;
      work_.push_back(sum);
    }
  }

  /// Among the ends whose stages all have at most this much work, those that send the least.
  std::optional<Ends> within(double max_work) const {
    std::vector<Way> ways = first_stages(max_work);
    for (int stage = 1; stage < stages_; ++stage) ways = longer(ways, max_work);
    if (ways.back().sent == kNever) return std::nullopt;
    return ways.back().ends;
  }

  /// The possible values of a stage's work, ascending.
  std::vector<double> works() const {
    std::vector<double> sums;
    for (std::size_t end = 0; end < ends_.size(); ++end)
      for (std::size_t begin = 0; begin <= end; ++begin)
        sums.push_back(work_[end] - (begin == 0 ? 0 : work_[begin - 1]));
    std::ranges::sort(sums);
    return sums;
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// The best partition of the layers up to an end.
  struct Way {
    std::int64_t sent = kNever;
    Ends ends = {};
  };

  static bool fits(double work, double max_work) { return work > 0 && work <= max_work; }

  std::vector<Way> first_stages(double max_work) const {
    std::vector<Way> ways(ends_.size());
    for (std::size_t end = 0; end < ends_.size(); ++end)
      if (fits(work_[end], max_work)) ways[end] = {0, {ends_[end]}};
    return ways;
  }

  std::vector<Way> longer(const std::vector<Way>& before, double max_work) const {
    std::vector<Way> ways(ends_.size());
    for (std::size_t end = 0; end < ends_.size(); ++end)
      for (std::size_t begin = 0; begin < end; ++begin) {
        if (before[begin].sent == kNever || !fits(work_[end] - work_[begin], max_work)) continue;
        const std::int64_t sent =
            before[begin].sent + network_.shape_of(ends_[begin] - 1).elements();
        if (sent >= ways[end].sent) continue;
        ways[end] = {sent, before[begin].ends};
        ways[end].ends.push_back(ends_[end]);
      }
    return ways;
  }

  const Network& network_;
  int stages_;
  std::vector<int> ends_;     // possible ends of stages, the last layer included
  std::vector<double> work_;  // cumulative multiply-accumulates, by layer
};

std::optional<Ends> best_ends(const Network& network, int stages) {
  const Partition partition(network, stages);
  const auto works = partition.works();
  const auto smallest = std::ranges::partition_point(
      works, [&](double work) { return !partition.within(work).has_value(); });
  return smallest == works.end() ? std::nullopt : partition.within(*smallest);
}

}  // namespace

std::vector<int> cuts(const Network& network) {
  const int layers = static_cast<int>(network.layers.size());
  // The earliest layer, kNetworkInput included, read by any layer from each index on.
  std::vector<int> earliest(network.layers.size() + 1, layers);
  for (int layer = layers - 1; layer >= 0; --layer)
    earliest[layer] = std::min(earliest[layer + 1], std::ranges::min(network.layers[layer].inputs));
  std::vector<int> result;
  for (int layer = 0; layer + 1 < layers; ++layer)
    if (earliest[layer + 1] == layer) result.push_back(layer);
  return result;
}

std::vector<NetworkStage> network_stages(const Network& network, int stages) {
  const auto ends = best_ends(network, stages);
  if (!ends) {
    int max_stages = 1;
    while (best_ends(network, max_stages + 1)) ++max_stages;
    throw std::invalid_argument(
        fmt::format("{} has {} stages at most, not {}", network.name, max_stages, stages));
  }
  std::vector<NetworkStage> result;
  NetworkStage next{};
  for (int begin = 0; const int end : *ends) {
    next.network = part(network, begin, end);
    next.first_layer = begin > 0 ? begin - 1 : 0;
    result.push_back(next);
    next.first_parameter += parameters(next.network);
    next.first_statistic += statistics_count(next.network);
    begin = end;
  }
  return result;
}

}  // namespace doetune::workloads
