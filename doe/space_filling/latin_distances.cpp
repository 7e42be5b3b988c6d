#include "doe/space_filling/latin_distances.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace doetune::doe {
namespace {

/// Large enough to contribute to no energy, small enough never to overflow.
constexpr int kItself = std::numeric_limits<int>::max() / 2;

Eigen::MatrixXi squared_distances(const Eigen::MatrixXi& levels) {
  const auto n = levels.rows();
  Eigen::MatrixXi distances = Eigen::MatrixXi::Constant(n, n, kItself);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      if (i != j) distances(i, j) = (levels.row(i) - levels.row(j)).squaredNorm();
    }
  }
  return distances;
}

}  // namespace

LatinDistances::LatinDistances(Eigen::MatrixXi levels)
    : levels_(std::move(levels)), distances_(squared_distances(levels_)) {}

std::int64_t LatinDistances::energy() const {
  return (aim_ - distances_.array()).max(0).cast<std::int64_t>().sum() / 2;
}

int LatinDistances::swap_change(int a, int b, int column) const {
  const int* level = levels_.col(column).data();
  const int* to_a = distances_.col(a).data();
  const int* to_b = distances_.col(b).data();
  const int apart = level[b] - level[a];
  const int sum = level[a] + level[b];
  const auto lack = [aim = aim_](int distance) { return std::max(0, aim - distance); };
  int change = 0;
  const int n = runs();
  for (int j = 0; j < n; ++j) {
    // (x_b - x_j)^2 - (x_a - x_j)^2: the increase of point j's distance to a, and decrease to b.
    const int gain = apart * (sum - 2 * level[j]);
    change += lack(to_a[j] + gain) - lack(to_a[j]) + lack(to_b[j] - gain) - lack(to_b[j]);
  }
  // The loop treated a and b as third points; their own distance does not change.
  const int gain = apart * apart;
  const int between = to_a[b];
  return change - 2 * (lack(between - gain) - lack(between));
}

void LatinDistances::swap(int a, int b, int column) {
  auto level = levels_.col(column);
  const int apart = level[b] - level[a];
  const int sum = level[a] + level[b];
  for (int j = 0; j < runs(); ++j) {
    if (j == a || j == b) continue;
    const int gain = apart * (sum - 2 * level[j]);
    distances_(a, j) = distances_(j, a) += gain;
    distances_(b, j) = distances_(j, b) -= gain;
  }
  std::swap(level[a], level[b]);
}

Eigen::MatrixXi random_latin(int runs, int factors, RandomStream& random) {
  Eigen::MatrixXi levels(runs, factors);
  for (int c = 0; c < factors; ++c) {
    const std::vector<int> order = random_permutation(runs, random);
    levels.col(c) = Eigen::VectorXi::Map(order.data(), runs);
  }
  return levels;
}

Eigen::MatrixXi random_symmetric_latin(int runs, int factors, RandomStream& random) {
  Eigen::MatrixXi levels = Eigen::MatrixXi::Constant(runs, factors, runs / 2);
  for (int c = 0; c < factors; ++c) {
    const std::vector<int> order = random_permutation(runs / 2, random);
    for (int pair = 0; pair < runs / 2; ++pair) {
      const auto mirrored = static_cast<int>(random.below(2));
      levels(2 * pair + mirrored, c) = order[pair];
      levels(2 * pair + 1 - mirrored, c) = runs - 1 - order[pair];
    }
  }
  return levels;
}

Eigen::MatrixXi best_lattice(int runs, int factors, int tries, RandomStream& random) {
  std::vector<int> multipliers;
  for (int h = 2; h <= runs; ++h) {
    if (std::gcd(h, runs + 1) == 1) multipliers.push_back(h);
  }
  Eigen::MatrixXi best;
  if (multipliers.empty()) return best;
  int best_distance = -1;
  for (int t = 0; t < tries; ++t) {
    Eigen::MatrixXi levels(runs, factors);
    for (int c = 0; c < factors; ++c) {
      const int h = c == 0 ? 1 : multipliers[random.below(multipliers.size())];
      for (int i = 1; i <= runs; ++i) levels(i - 1, c) = i * h % (runs + 1) - 1;
    }
    const int distance = LatinDistances(levels).min_distance();
    if (distance <= best_distance) continue;
    best_distance = distance;
    best = std::move(levels);
  }
  return best;
}

int latin_distance_bound(int runs, int factors) { return runs * (runs + 1) * factors / 6; }

}  // namespace doetune::doe
