// Random numbers of posteriors: the same at every call.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <boost/random/chi_squared_distribution.hpp>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace doetune::surfaces {

/// Tables for normal numbers are many times faster than quantiles.
class PosteriorDraws {
 public:
  double uniform() { return boost::random::uniform_01<>()(engine_); }
  double normal() { return normal_(engine_); }
  Eigen::VectorXd normals(Eigen::Index count) {
    return Eigen::VectorXd::NullaryExpr(count, [this] { return normal(); });
  }
  double chi_squared(double df) { return boost::random::chi_squared_distribution<>(df)(engine_); }

  /// An index of `cumulative`, the running sum of unnormalised probabilities.
  std::size_t index(const std::vector<double>& cumulative) {
    const auto at =
        std::lower_bound(cumulative.begin(), cumulative.end(), uniform() * cumulative.back());
    return std::min(static_cast<std::size_t>(at - cumulative.begin()), cumulative.size() - 1);
  }

 private:
  static constexpr std::uint64_t kSeed = 91;

  boost::random::mt19937_64 engine_{kSeed};
  boost::random::normal_distribution<> normal_;
};

/// The logarithm of the sum of the exponentials.
inline double log_sum(const std::vector<double>& logs) {
  const double highest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double value : logs) sum += std::exp(value - highest);
  return highest + std::log(sum);
}

/// The running sum of probabilities from their logarithms up to a constant.
inline std::vector<double> cumulative_of(const std::vector<double>& log_weights) {
  const double highest = *std::max_element(log_weights.begin(), log_weights.end());
  std::vector<double> cumulative;
  double sum = 0;
  for (const double weight : log_weights) cumulative.push_back(sum += std::exp(weight - highest));
  return cumulative;
}

}  // namespace doetune::surfaces
