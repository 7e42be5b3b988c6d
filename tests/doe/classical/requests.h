// Factors and requests for the tests of classical designs.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <Eigen/Core>
#include <algorithm>
#include <string>
#include <vector>

#include "doe/design.h"
#include "tests/doe/factors.h"

namespace doetune::tests {

/// Factors a, b, c, ..., z, x26, x27, ... on [-1, 1].
inline std::vector<doe::Factor> letters(int k) {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < k; ++f) {
    factors.push_back(
        continuous(f < 26 ? std::string(1, static_cast<char>('a' + f)) : fmt::format("x{}", f)));
  }
  return factors;
}

inline doe::DesignRequest request_of(std::vector<doe::Factor> factors,
                                     const std::string& model = "") {
  doe::DesignRequest request;
  request.region = doe::Region(factors, {}, {});
  if (!model.empty()) request.model = doe::Model::named(model, factors);
  request.factors = std::move(factors);
  return request;
}

inline int count(const doe::Design& design, doe::PointType type) {
  return static_cast<int>(
      std::count_if(design.points.begin(), design.points.end(),
                    [&](const doe::DesignPoint& point) { return point.type == type; }));
}

inline int block_count(const doe::Design& design) {
  int blocks = 0;
  for (const doe::DesignPoint& point : design.points) blocks = std::max(blocks, point.block);
  return blocks;
}

inline std::string notes_of(const doe::Design& design) {
  return fmt::format("{}", fmt::join(design.notes, "\n"));
}

/// The largest difference between a block's mean of a model column and the design's mean: 0 if
/// blocks are orthogonal to the model.
inline double block_imbalance(const doe::Design& design, const doe::Model& model) {
  const Eigen::MatrixXd x = model.matrix(design.coded());
  double largest = 0;
  for (int block = 1; block <= block_count(design); ++block) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(x.cols());
    int runs = 0;
    for (Eigen::Index i = 0; i < x.rows(); ++i) {
      if (design.points[i].block != block) continue;
      sum += x.row(i);
      ++runs;
    }
    largest = std::max(largest, (sum / runs - x.colwise().mean()).cwiseAbs().maxCoeff());
  }
  return largest;
}

}  // namespace doetune::tests
