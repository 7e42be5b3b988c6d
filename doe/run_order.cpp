#include <algorithm>
#include <map>

#include "doe/design.h"
#include "doe/random.h"

namespace doetune::doe {

std::vector<int> random_run_order(const Design& design, std::uint64_t seed) {
  std::map<int, std::vector<int>> blocks;
  for (std::size_t i = 0; i < design.points.size(); ++i) {
    blocks[design.points[i].block].push_back(static_cast<int>(i));
  }
  std::vector<int> order;
  for (const auto& [block, members] : blocks) {
    RandomStream random(seed, static_cast<std::uint64_t>(block));
    for (int i : random_permutation(static_cast<int>(members.size()), random)) {
      order.push_back(members[i]);
    }
  }
  return order;
}

}  // namespace doetune::doe
