#include "surfaces/optimum/non_dominated.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

namespace doetune::surfaces {
namespace {

using Columns = std::vector<Eigen::Index>;

Columns in_order(const Eigen::Ref<const Eigen::RowVectorXd>& values) {
  Columns order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return values[a] < values[b]; });
  return order;
}

/// The cost of a column in one row, and the column's index among those compared.
struct Ranked {
  double cost = 0;
  Eigen::Index at = 0;
};

/// Cheapest first.
using Ranking = std::vector<Ranked>;

bool cheaper(const Ranked& a, const Ranked& b) { return a.cost < b.cost; }

/// The ranking of columns whose indices begin at `first`.
Ranking ranking_of(const Eigen::Ref<const Eigen::RowVectorXd, 0, Eigen::InnerStride<>>& costs,
                   Eigen::Index first) {
  Ranking ranking;
  ranking.reserve(static_cast<std::size_t>(costs.size()));
  for (const double cost : costs) {
    ranking.push_back({cost, first + static_cast<Eigen::Index>(ranking.size())});
  }
  std::sort(ranking.begin(), ranking.end(), cheaper);
  return ranking;
}

/// The non-dominated columns so far: those that no earlier column equals or undercuts in all rows.
class Unbeaten {
 public:
  explicit Unbeaten(Eigen::Index rows) : rankings_(static_cast<std::size_t>(rows)) {}

  /// Adds columns and returns those that are non-dominated. Dominated columns can be discarded,
  /// since anything they dominate is also dominated by a column that is kept. Sets of columns are
  /// bit sets: for each column, those that cost no more in the rows processed so far.
  Columns add(const Eigen::Ref<const Eigen::MatrixXd>& costs) {
    Sets rivals = Sets::Constant((count_ + costs.cols()) / 64 + 1, costs.cols(), kAll);
    for (std::size_t row = 0; row < rankings_.size(); ++row) {
      const Ranking more = ranking_of(costs.row(static_cast<Eigen::Index>(row)), count_);
      Ranking& all = rankings_[row];
      const auto before = static_cast<std::ptrdiff_t>(all.size());
      all.insert(all.end(), more.begin(), more.end());
      std::inplace_merge(all.begin(), all.begin() + before, all.end(), cheaper);
      keep_cheaper(all, more, rivals);
    }
    Columns taken;
    for (Eigen::Index column = 0; column < costs.cols(); ++column) {
      if (!has_before(count_ + column, rivals.col(column))) taken.push_back(column);
    }
    forget_beaten(taken, costs.cols());
    return taken;
  }

 private:
  using Sets = Eigen::Array<std::uint64_t, Eigen::Dynamic, Eigen::Dynamic>;  ///< one per column
  using Set = Eigen::Array<std::uint64_t, Eigen::Dynamic, 1>;
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  /// Removes from the rivals of each column in `more` those in `all` that cost more.
  void keep_cheaper(const Ranking& all, const Ranking& more, Sets& rivals) const {
    Set no_dearer = Set::Zero(rivals.rows());
    auto next = all.begin();
    for (const Ranked& column : more) {
      for (; next != all.end() && next->cost <= column.cost; ++next) {
        no_dearer[next->at / 64] |= 1ULL << (next->at % 64);
      }
      auto own = rivals.col(column.at - count_);
      own = own.binaryExpr(no_dearer, std::bit_and<>());
    }
  }

  static bool has_before(Eigen::Index end, const Eigen::Ref<const Set>& set) {
    const std::uint64_t last = set[end / 64] & ~(kAll << (end % 64));
    return last != 0 || (set.head(end / 64) != 0).any();
  }

  void forget_beaten(const Columns& taken, Eigen::Index added) {
    constexpr Eigen::Index kBeaten = -1;
    Columns places(static_cast<std::size_t>(added), kBeaten);
    for (const Eigen::Index column : taken) places[static_cast<std::size_t>(column)] = count_++;
    const Eigen::Index before = count_ - static_cast<Eigen::Index>(taken.size());
    for (Ranking& ranking : rankings_) {
      for (Ranked& column : ranking) {
        if (column.at >= before) column.at = places[static_cast<std::size_t>(column.at - before)];
      }
      std::erase_if(ranking, [](const Ranked& column) { return column.at == kBeaten; });
    }
  }

  std::vector<Ranking> rankings_;  ///< per row: the columns kept, by index
  Eigen::Index count_ = 0;
};

}  // namespace

Eigen::VectorXd shares_of_ranges(const Eigen::MatrixXd& costs) {
  const Eigen::VectorXd ranges = costs.rowwise().maxCoeff() - costs.rowwise().minCoeff();
  return ranges.unaryExpr([](double range) { return range > 0 ? 1 / range : 0; });
}

std::vector<Eigen::Index> non_dominated(const Eigen::MatrixXd& costs) {
  constexpr Eigen::Index kAtATime = 1024;
  const Columns order = in_order(shares_of_ranges(costs).transpose() * costs);
  const Eigen::MatrixXd sorted = costs(Eigen::all, order);
  Unbeaten unbeaten(costs.rows());
  Columns front;
  for (Eigen::Index first = 0; first < costs.cols(); first += kAtATime) {
    const Eigen::Index count = std::min(kAtATime, costs.cols() - first);
    for (const Eigen::Index column : unbeaten.add(sorted.middleCols(first, count))) {
      front.push_back(order[static_cast<std::size_t>(first + column)]);
    }
  }
  return front;
}

}  // namespace doetune::surfaces
