#include "surfaces/optimum/normal_box.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

constexpr int kPoints = 4000;
constexpr double kSingular = 1e-7;  // variables below this are determined by earlier ones

/// Coordinate i of the n-th point of Richtmyer's lattice: the fraction of n sqrt(prime_i), folded.
double lattice(int n, std::size_t i) {
  constexpr std::array<int, 16> kPrimes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  const double x = (n + 0.5) * std::sqrt(kPrimes.at(i % kPrimes.size()));
  return std::abs(2 * (x - std::floor(x)) - 1);
}

/// The lower triangle L with L L' = correlation; columns without remaining variance are 0.
Eigen::MatrixXd triangle(const Eigen::MatrixXd& correlation) {
  const Eigen::Index r = correlation.rows();
  Eigen::MatrixXd l = Eigen::MatrixXd::Zero(r, r);
  for (Eigen::Index j = 0; j < r; ++j) {
    const double rest = correlation(j, j) - l.row(j).squaredNorm();
    if (rest < kSingular * kSingular) continue;
    l(j, j) = std::sqrt(rest);
    for (Eigen::Index i = j + 1; i < r; ++i) {
      l(i, j) = (correlation(i, j) - l.row(i).head(j).dot(l.row(j).head(j))) / l(j, j);
    }
  }
  return l;
}

/// The product of the interval probabilities, each conditional on draws inside the earlier ones.
double product_at(const Eigen::MatrixXd& l, const Eigen::VectorXd& low, const Eigen::VectorXd& high,
                  int point) {
  Eigen::VectorXd y = Eigen::VectorXd::Zero(low.size());
  double product = 1;
  for (Eigen::Index i = 0; i < low.size() && product > 0; ++i) {
    const double mean = l.row(i).head(i).dot(y.head(i));
    if (l(i, i) < kSingular) {
      if (mean < low[i] || mean > high[i]) return 0;
      continue;
    }
    const double from = normal_probability((low[i] - mean) / l(i, i));
    const double to = normal_probability((high[i] - mean) / l(i, i));
    product *= std::max(0.0, to - from);
    if (i + 1 == low.size()) break;
    const double share = lattice(point, static_cast<std::size_t>(i));
    y[i] = normal_value(std::clamp(from + share * (to - from), 1e-300, 1 - 1e-16));
  }
  return product;
}

}  // namespace

double normal_box_probability(const Eigen::MatrixXd& correlation, const Eigen::VectorXd& low,
                              const Eigen::VectorXd& high) {
  std::vector<Eigen::Index> order;
  for (Eigen::Index i = 0; i < low.size(); ++i) {
    if (std::isfinite(low[i]) || std::isfinite(high[i]) || low[i] > high[i]) order.push_back(i);
    if (low[i] >= high[i] || low[i] == std::numeric_limits<double>::infinity()) return 0;
  }
  if (order.empty()) return 1;
  // Least likely variables first, which reduces the variance of the estimate.
  const auto probability = [&](Eigen::Index i) {
    return normal_probability(high[i]) - normal_probability(low[i]);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return probability(a) < probability(b); });
  const Eigen::MatrixXd ordered = correlation(order, order);
  const Eigen::VectorXd from = low(order), to = high(order);
  const Eigen::MatrixXd l = triangle(ordered);
  if (ordered.isDiagonal()) return product_at(l, from, to, 0);
  double sum = 0;
  for (int point = 0; point < kPoints; ++point) sum += product_at(l, from, to, point);
  return sum / kPoints;
}

Eigen::MatrixXd possible_correlation(const Eigen::MatrixXd& correlation) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(correlation);
  if (eigen.eigenvalues().minCoeff() >= 0) return correlation;
  const Eigen::MatrixXd root =
      eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  const Eigen::VectorXd norms = root.rowwise().norm();
  const Eigen::MatrixXd unit = norms.cwiseInverse().asDiagonal() * root;
  return unit * unit.transpose();
}

}  // namespace doetune::surfaces
