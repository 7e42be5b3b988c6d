#include "surfaces/optimum/best_points.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include "doe/design.h"
#include "surfaces/optimum/limit_margins.h"

namespace doetune::surfaces {
namespace {

/// In coded units: a quarter of a factor's range, or another level.
double min_difference(const doe::Factor& factor) { return factor.is_categorical() ? 1 : 0.5; }

/// The best point so far over several threads; ties go to the first in order, independently of
/// which was found first.
class BestSoFar {
 public:
  std::optional<Score> score() const {
    const std::lock_guard lock(mutex_);
    if (!found_) return std::nullopt;
    return found_->score;
  }

  void offer(std::size_t block, Scored point) {
    const std::lock_guard lock(mutex_);
    const bool wins = !found_ || better(point.score, found_->score) ||
                      (block < block_ && !better(found_->score, point.score));
    if (!wins) return;
    found_ = std::move(point);
    block_ = block;
  }

  std::optional<Scored> found() const { return found_; }

 private:
  mutable std::mutex mutex_;
  std::optional<Scored> found_;
  std::size_t block_ = 0;
};

/// An upper bound on the scores of a block's points that may still be chosen; empty if there are
/// none.
using Bound = std::optional<Score>;

class BestPointsSearch {
 public:
  BestPointsSearch(const OptimumRequest& request, const SettingsSearch& search)
      : request_(request),
        scorer_(request),
        search_(search),
        bounds_(search.block_count()),
        order_(bounds_.size()) {
    min_.resize(static_cast<Eigen::Index>(request.factors.size()));
    for (std::size_t f = 0; f < request.factors.size(); ++f) {
      min_[static_cast<Eigen::Index>(f)] = min_difference(request.factors[f]);
    }
    for (const GoalResponse& response : request.responses) {
      if (!counts(response) || response.goal->is_limit()) continue;
      max_excess_ = std::numeric_limits<double>::infinity();
    }
  }

  std::optional<Scored> first() {
    BestSoFar best;
    search_.for_each(request_.threads, [&](std::size_t index, const Block& block) {
      if (block.size() > 0) bounds_[index] = look(index, block, {}, best);
    });
    sort_bounds(best.found());
    return best.found();
  }

  /// The best point that differs from all in `before`. The remaining points of a block are no
  /// better than its previous bound, so each visit tightens the bounds.
  std::optional<Scored> next(const std::vector<Scored>& before) {
    BestSoFar best;
    // In order of bounds, in growing batches, until no block can contain a better point.
    std::size_t from = 0;
    for (std::size_t count = kFirstBlocks; from < order_.size(); from += count, count *= 2) {
      const std::optional<Score> score = best.score();
      std::vector<std::size_t> blocks;
      for (std::size_t i = from; i < std::min(from + count, order_.size()); ++i) {
        const Bound& bound = bounds_[order_[i]];
        if (bound && (!score || better(*bound, *score))) blocks.push_back(order_[i]);
      }
      if (blocks.empty()) break;
      search_.for_each(blocks, request_.threads, [&](std::size_t index, const Block& block) {
        bounds_[index] = look(index, block, new_ones(block, before), best);
      });
    }
    sort_bounds(best.found());
    return best.found();
  }

 private:
  static constexpr std::size_t kFirstBlocks = 8;

  /// Offers the best allowed point of a block, and returns a bound on all its allowed points.
  Bound look(std::size_t index, const Block& block, const std::vector<bool>& allowed,
             BestSoFar& best) const {
    const std::optional<Score> bar = best.score();
    const BestOf found = scorer_.best_of(block.coded, allowed, bar ? &*bar : nullptr);
    if (found.at < 0) return std::nullopt;
    best.offer(index, {block.settings(found.at), found.score});
    Score bound = found.score;
    bound.probability = std::min(1.0, found.max_probability + kScoreRounding);
    bound.excess = max_excess_;
    return bound;
  }

  /// Sorts blocks by bound, best first, ties in block order.
  void sort_bounds(const std::optional<Scored>& found) {
    for (Bound& bound : bounds_) {
      // Whether it was computed depends on thread timing; it matters only for ties.
      if (bound && found && !ties_but_for_probability(*bound, found->score)) bound->probability = 1;
    }
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return bounds_[a] && bounds_[b] ? better(*bounds_[a], *bounds_[b])
                                      : bounds_[a].has_value() && !bounds_[b];
    });
  }

  std::vector<bool> new_ones(const Block& block, const std::vector<Scored>& before) const {
    Eigen::Array<bool, Eigen::Dynamic, 1> is_new =
        Eigen::Array<bool, Eigen::Dynamic, 1>::Constant(block.size(), true);
    for (const Scored& other : before) {
      const Eigen::RowVectorXd at = doe::coded_point(request_.factors, other.settings).transpose();
      const Eigen::ArrayXXd distances = (block.coded.rowwise() - at).cwiseAbs();
      is_new = is_new && (distances >= min_.replicate(block.size(), 1)).rowwise().any();
    }
    return {is_new.begin(), is_new.end()};
  }

  const OptimumRequest& request_;
  Scorer scorer_;
  const SettingsSearch& search_;
  std::vector<Bound> bounds_;       ///< of each block
  std::vector<std::size_t> order_;  ///< of the blocks, best bounds first
  double max_excess_ = 0;           ///< 0 without ramps
  Eigen::Array<double, 1, Eigen::Dynamic>
      min_;  ///< difference of each factor that makes settings others
};

}  // namespace

bool differ(const std::vector<doe::Factor>& factors, const Settings& a, const Settings& b) {
  for (std::size_t f = 0; f < a.size(); ++f) {
    const double distance = std::abs(factors[f].to_coded(a[f]) - factors[f].to_coded(b[f]));
    if (distance >= min_difference(factors[f])) return true;
  }
  return false;
}

std::vector<Scored> best_points(const OptimumRequest& request, const SettingsSearch& search,
                                std::size_t most) {
  BestPointsSearch points(request, search);
  std::vector<Scored> chosen;
  std::optional<Scored> next = points.first();
  while (next && chosen.size() < most) {
    chosen.push_back(std::move(*next));
    if (chosen.size() < most) next = points.next(chosen);
  }
  return chosen;
}

}  // namespace doetune::surfaces
