#include <Eigen/Core>
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/random.h"
#include "surfaces/optimum/non_dominated.h"

using doetune::surfaces::non_dominated;

namespace {

/// A direct implementation of the definition, by pairs of columns; of equal columns the first.
std::vector<Eigen::Index> by_definition(const Eigen::MatrixXd& costs) {
  std::vector<Eigen::Index> kept;
  for (Eigen::Index i = 0; i < costs.cols(); ++i) {
    bool beaten = false;
    for (Eigen::Index j = 0; j < costs.cols() && !beaten; ++j) {
      if (j == i || (costs.col(j).array() > costs.col(i).array()).any()) continue;
      beaten = j < i || costs.col(j) != costs.col(i);
    }
    if (!beaten) kept.push_back(i);
  }
  return kept;
}

/// Random integers below `values`, so that many are equal.
Eigen::MatrixXd random_costs(int rows, int columns, std::uint64_t values) {
  doetune::RandomStream random(1, values);
  return Eigen::MatrixXd::NullaryExpr(rows, columns,
                                      [&] { return static_cast<double>(random.below(values)); });
}

std::vector<Eigen::Index> sorted(std::vector<Eigen::Index> columns) {
  std::sort(columns.begin(), columns.end());
  return columns;
}

}  // namespace

TEST_CASE("Non-dominated columns are those of the definition", "[surfaces][pareto]") {
  const int rows = GENERATE(1, 2, 4, 8);
  const int columns = GENERATE(1, 63, 64, 65, 3000);
  const std::uint64_t values = GENERATE(1, 3, 10, 1'000'000);
  const Eigen::MatrixXd costs = random_costs(rows, columns, values);
  CAPTURE(rows, columns, values);
  CHECK(sorted(non_dominated(costs)) == by_definition(costs));
}

TEST_CASE("Non-dominated columns come in the order of their sums", "[surfaces][pareto]") {
  const Eigen::MatrixXd costs = random_costs(3, 3000, 1'000'000) / 1e6;
  const Eigen::VectorXd ranges = costs.rowwise().maxCoeff() - costs.rowwise().minCoeff();
  const Eigen::RowVectorXd sums = ranges.cwiseInverse().transpose() * costs;
  const std::vector<Eigen::Index> kept = non_dominated(costs);
  CHECK(std::is_sorted(kept.begin(), kept.end(),
                       [&](Eigen::Index a, Eigen::Index b) { return sums[a] < sums[b]; }));
}

TEST_CASE("A goal that all points meet alike distinguishes none of them", "[surfaces][pareto]") {
  Eigen::MatrixXd costs = random_costs(3, 500, 100);
  const std::vector<Eigen::Index> without = sorted(non_dominated(costs.topRows(2)));
  costs.row(2).setConstant(7);
  CHECK(sorted(non_dominated(costs)) == without);
}
