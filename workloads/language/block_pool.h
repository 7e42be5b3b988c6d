// The free blocks of a paged cache.
#pragma once

#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

namespace doetune::workloads {

/// Hands out blocks of a cache by number. Blocks that were given back last are handed out first, so
/// those of a sequence are seldom neighbours.
class BlockPool {
 public:
  explicit BlockPool(int blocks) : free_(static_cast<std::size_t>(blocks)) {
    std::iota(free_.rbegin(), free_.rend(), 0);
  }

  int free() const { return static_cast<int>(free_.size()); }

  /// Throws std::logic_error if there are not as many.
  std::vector<int> take(int count) {
    if (count > free()) throw std::logic_error("the cache has no free block");
    const std::vector<int> taken(free_.end() - count, free_.end());
    free_.resize(free_.size() - taken.size());
    return taken;
  }

  void give_back(std::span<const int> blocks) {
    free_.insert(free_.end(), blocks.begin(), blocks.end());
  }

 private:
  std::vector<int> free_;  // the next one last
};

}  // namespace doetune::workloads
