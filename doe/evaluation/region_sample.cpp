#include "doe/evaluation/region_sample.h"

#include <algorithm>

#include "doe/combinations.h"
#include "doe/design.h"

namespace doetune::doe {
namespace {

constexpr int kTriesPerPoint = 64;

std::vector<int> first_primes(std::size_t count) {
  std::vector<int> primes;
  for (int n = 2; primes.size() < count; ++n) {
    if (std::none_of(primes.begin(), primes.end(), [n](int prime) { return n % prime == 0; })) {
      primes.push_back(n);
    }
  }
  return primes;
}

/// The base-b digits of an integer mirrored at the radix point (van der Corput), in [0, 1).
double radical_inverse(int number, int base) {
  double value = 0;
  for (double digit_worth = 1.0 / base; number > 0; number /= base, digit_worth /= base) {
    value += digit_worth * (number % base);
  }
  return value;
}

/// Maps a number in [0, 1) to a coded value of a factor with these settings (none: continuous).
double coded_value(double unit, const std::vector<double>& settings) {
  if (settings.empty()) return 2 * unit - 1;
  const auto count = static_cast<double>(settings.size());
  return settings[static_cast<std::size_t>(unit * count)];
}

Eigen::MatrixXd stacked(const std::vector<Eigen::VectorXd>& points, std::size_t k) {
  Eigen::MatrixXd coded(points.size(), k);
  for (std::size_t i = 0; i < points.size(); ++i) {
    coded.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  }
  return coded;
}

}  // namespace

std::vector<double> coded_settings(const Factor& factor) {
  if (factor.kind == FactorKind::kContinuous) return {};
  std::vector<double> coded;
  for (const double natural : factor.usable_settings()) coded.push_back(factor.to_coded(natural));
  return coded;
}

bool few_combinations(const std::vector<Factor>& factors, int most) {
  double combinations = 1;
  for (const Factor& factor : factors) {
    if (factor.kind == FactorKind::kContinuous) return false;
    combinations *= static_cast<double>(factor.usable_settings().size());
  }
  return combinations <= most;
}

Eigen::MatrixXd region_sample(const std::vector<Factor>& factors, const Region& region,
                              int points) {
  std::vector<std::vector<double>> settings;
  for (const Factor& factor : factors) settings.push_back(coded_settings(factor));
  const auto allowed = [&](const Eigen::VectorXd& x) {
    return region.is_box() || region.allows(natural_settings(factors, x));
  };
  std::vector<Eigen::VectorXd> found;
  if (few_combinations(factors, points)) {
    for (const Eigen::VectorXd& x : combinations(settings)) {
      if (allowed(x)) found.push_back(x);
    }
    return stacked(found, factors.size());
  }
  const std::vector<int> bases = first_primes(factors.size());
  Eigen::VectorXd x(factors.size());
  for (int i = 1; i <= kTriesPerPoint * points && static_cast<int>(found.size()) < points; ++i) {
    for (std::size_t f = 0; f < factors.size(); ++f) {
      x[static_cast<Eigen::Index>(f)] = coded_value(radical_inverse(i, bases[f]), settings[f]);
    }
    if (allowed(x)) found.push_back(x);
  }
  return stacked(found, factors.size());
}

}  // namespace doetune::doe
