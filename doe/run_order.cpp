#include <algorithm>
#include <map>

#include "base/random.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

std::vector<int> shuffled(const std::vector<int>& members, RandomStream& random) {
  std::vector<int> order;
  for (const int i : random_permutation(static_cast<int>(members.size()), random)) {
    order.push_back(members[i]);
  }
  return order;
}

/// The runs in their order with centre runs at equal distances, the first and last at the ends.
std::vector<int> with_spread_center_runs(const std::vector<int>& runs,
                                         const std::vector<int>& center_runs) {
  const std::size_t total = runs.size() + center_runs.size();
  std::vector<int> order(total, -1);
  for (std::size_t c = 0; c < center_runs.size(); ++c) {
    const std::size_t gaps = center_runs.size() - 1;
    const std::size_t at =
        gaps == 0 ? (total - 1) / 2 : (2 * c * (total - 1) + gaps) / (2 * gaps);  // rounded
    order[at] = center_runs[c];
  }
  auto next = runs.begin();
  for (int& place : order) {
    if (place < 0) place = *next++;
  }
  return order;
}

std::vector<int> plot_order(const Design& design, const std::vector<int>& members,
                            RandomStream& random) {
  std::vector<int> runs;
  std::vector<int> center_runs;
  for (const int i : shuffled(members, random)) {
    (design.points[i].type == PointType::kCenter ? center_runs : runs).push_back(i);
  }
  return with_spread_center_runs(runs, center_runs);
}

}  // namespace

std::vector<int> random_run_order(const Design& design, std::uint64_t seed) {
  std::map<int, std::map<int, std::vector<int>>> blocks;  // by block, then whole plot
  for (std::size_t i = 0; i < design.points.size(); ++i) {
    const DesignPoint& point = design.points[i];
    blocks[point.block][point.whole_plot].push_back(static_cast<int>(i));
  }
  std::vector<int> order;
  for (const auto& [block, whole_plots] : blocks) {
    RandomStream random(seed, static_cast<std::uint64_t>(block));
    std::vector<int> plots;
    for (const auto& [plot, members] : whole_plots) plots.push_back(plot);
    for (const int plot : shuffled(plots, random)) {
      const std::vector<int> runs = plot_order(design, whole_plots.at(plot), random);
      order.insert(order.end(), runs.begin(), runs.end());
    }
  }
  return order;
}

}  // namespace doetune::doe
