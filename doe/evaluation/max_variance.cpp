#include "doe/evaluation/max_variance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/clock.h"
#include "doe/combinations.h"
#include "doe/design.h"
#include "doe/evaluation/polynomial_maximum.h"
#include "doe/evaluation/region_sample.h"

namespace doetune::doe {
namespace {

constexpr int kMaxCombinations = 1 << 16;
constexpr std::size_t kMaxMonomials = 20'000;
constexpr double kMaxCoefficients = 4e6;
constexpr double kMaxCategoricalCombinations = 1 << 18;
constexpr double kMaxProducts = 4e9;
constexpr double kMinSearch_s = 1;
constexpr int kStartPoints = 1 << 13;
constexpr int kVarianceClimbs = 16;
constexpr double kFirstStep = 0.5;
constexpr double kLastStep = 1e-9;
constexpr double kMaxVarianceRounding = 1e-13;

using Exponents = std::vector<int>;

/// The powers of the numeric factors in every column.
std::vector<Exponents> numeric_powers(const Model& model, const std::vector<int>& numeric) {
  std::vector<Exponents> powers;
  for (const ModelColumn& column : model.columns()) {
    Exponents& exponents = powers.emplace_back();
    for (const int f : numeric) exponents.push_back(model.terms()[column.term].powers[f]);
  }
  return powers;
}

Exponents sum(Exponents a, const Exponents& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

/// The exponents of all products of two columns; empty if there are too many.
std::vector<Exponents> products(const std::vector<Exponents>& powers) {
  const std::set<Exponents> once(powers.begin(), powers.end());
  std::set<Exponents> found;
  for (const Exponents& a : once) {
    for (const Exponents& b : once) {
      found.insert(sum(a, b));
      if (found.size() > kMaxMonomials) return {};
    }
  }
  return {found.begin(), found.end()};
}

double combination_count(const std::vector<Factor>& factors) {
  double count = 1;
  for (const Factor& factor : factors) {
    if (factor.is_categorical()) count *= static_cast<double>(factor.level_names.size());
  }
  return count;
}

/// The prediction variance as one polynomial in the numeric factors for each combination of
/// categorical levels.
class VariancePolynomials {
 public:
  VariancePolynomials(const Model& model, const std::vector<Exponents>& product_exponents)
      : model_(model),
        numeric_(numeric_factors(model.factors())),
        monomials_(static_cast<int>(numeric_.size()), product_exponents) {}

  const Monomials& monomials() const { return monomials_; }

  MaxVariance maximum(const Eigen::MatrixXd& inverse, double gap, double time_limit_s) const {
    const std::vector<Eigen::VectorXd> combinations = categorical_combinations(model_.factors());
    PolynomialProblem problem{monomials_, coefficients(inverse, combinations), {}, 0};
    for (const int f : numeric_) problem.settings.push_back(coded_settings(model_.factors()[f]));
    const double operations = static_cast<double>(inverse.rows()) + monomials_.size() +
                              8.0 * monomials_.variables() * (monomials_.degree() + 1);
    problem.rounding = operations * std::numeric_limits<double>::epsilon() * inverse.lpNorm<1>();
    const PolynomialMaximum found = polynomial_maximum(problem, gap, time_limit_s);
    Eigen::VectorXd at = combinations[found.which];
    for (std::size_t i = 0; i < numeric_.size(); ++i) {
      at[numeric_[i]] = found.at[static_cast<Eigen::Index>(i)];
    }
    return {found.value, found.upper_bound, at, found.proven};
  }

 private:
  std::vector<Eigen::VectorXd> coefficients(
      const Eigen::MatrixXd& inverse, const std::vector<Eigen::VectorXd>& combinations) const {
    const std::vector<Exponents> powers = numeric_powers(model_, numeric_);
    const int p = model_.column_count();
    Eigen::MatrixXi product(p, p);
    for (int j = 0; j < p; ++j) {
      for (int i = 0; i < p; ++i) product(i, j) = monomials_.find(sum(powers[i], powers[j]));
    }
    std::vector<Eigen::VectorXd> all;
    for (Eigen::VectorXd x : combinations) {
      for (const int f : numeric_) x[f] = 1;  // leaves the contrast part of every column
      const Eigen::RowVectorXd contrasts = model_.row(x);
      Eigen::VectorXd& a = all.emplace_back(Eigen::VectorXd::Zero(monomials_.size()));
      for (int j = 0; j < p; ++j) {
        for (int i = 0; i < p; ++i) a[product(i, j)] += inverse(i, j) * contrasts[i] * contrasts[j];
      }
    }
    return all;
  }

  const Model& model_;
  std::vector<int> numeric_;
  Monomials monomials_;
};

/// Searches for the largest variance at allowed points.
class AllowedSearch {
 public:
  AllowedSearch(const Model& model, const Region& region, const Eigen::MatrixXd& inverse,
                double time_limit_s)
      : model_(model),
        region_(region),
        inverse_(inverse),
        end_s_(monotonic_s() + std::max(time_limit_s, kMinSearch_s)) {}

  /// Searches a sample of points, then climbs by steps in one or two factors from the best of them.
  MaxVariance sampled(int points, bool climb) const {
    const Eigen::MatrixXd sample = region_sample(model_.factors(), region_, points);
    std::vector<std::pair<double, Eigen::Index>> order;
    for (Eigen::Index i = 0; i < sample.rows() && (i == 0 || !out_of_time()); ++i) {
      order.emplace_back(variance(sample.row(i).transpose()), i);
    }
    std::sort(order.rbegin(), order.rend());
    MaxVariance best;
    if (!order.empty()) {
      best = {order[0].first, order[0].first, sample.row(order[0].second).transpose(), true};
    }
    if (static_cast<Eigen::Index>(order.size()) < sample.rows()) {
      best.upper_bound = inverse_.lpNorm<1>();
      best.proven = false;
    }
    // A level is left for any other at once, whatever the step.
    const double last = numeric_factors(model_.factors()).empty() ? kFirstStep / 2 : kLastStep;
    for (std::size_t i = 0; climb && i < order.size() && i < kVarianceClimbs; ++i) {
      Eigen::VectorXd x = sample.row(order[i].second).transpose();
      double value = order[i].first;
      for (double step = kFirstStep; step > last && !out_of_time(); step /= 2) {
        while (improve(step, x, value)) continue;
      }
      if (value > best.value) {
        best.value = value;
        best.at = x;
        best.upper_bound = std::max(best.upper_bound, value);
        best.proven = false;
      }
    }
    return best;
  }

 private:
  bool out_of_time() const { return monotonic_s() > end_s_; }

  double variance(const Eigen::VectorXd& x) const {
    const Eigen::RowVectorXd f = model_.row(x);
    return f * inverse_ * f.transpose();
  }

  /// The values a factor can move to: all levels, or the settings about a step away.
  std::vector<double> moves(const Factor& factor, double from, double step) const {
    if (factor.is_categorical()) return coded_settings(factor);
    std::vector<double> values{std::max(-1.0, from - step), std::min(1.0, from + step)};
    if (factor.kind == FactorKind::kContinuous) return values;
    for (double& value : values) value = factor.to_coded(factor.snap(factor.to_natural(value)));
    return values;
  }

  /// The points with one or two factors moved: along a constraint on their sum one factor alone
  /// cannot move.
  std::vector<Eigen::VectorXd> neighbours(const Eigen::VectorXd& x, double step) const {
    std::vector<Eigen::VectorXd> around{x};
    for (Eigen::Index f = 0; f < x.size(); ++f) {
      const std::size_t before = around.size();
      for (std::size_t i = 0; i < before; ++i) {
        const bool two_moved = (around[i] - x).cwiseAbs().cast<bool>().count() > 1;
        for (const double value : moves(model_.factors()[f], x[f], step)) {
          if (two_moved) break;
          if (value == x[f]) continue;  // copies would double with every factor
          around.push_back(around[i]);
          around.back()[f] = value;
        }
      }
    }
    return around;
  }

  bool improve(double step, Eigen::VectorXd& x, double& value) const {
    for (const Eigen::VectorXd& next : neighbours(x, step)) {
      if (out_of_time()) return false;
      const double at_next = variance(next);
      if (at_next <= value + kMaxVarianceRounding * std::abs(value) ||
          !region_.allows(natural_settings(model_.factors(), next)))
        continue;
      x = next;
      value = at_next;
      return true;
    }
    return false;
  }

  const Model& model_;
  const Region& region_;
  const Eigen::MatrixXd& inverse_;
  double end_s_;
};

MaxVariance box_maximum(const Model& model, const Eigen::MatrixXd& inverse, double gap,
                        double time_limit_s) {
  const std::vector<Exponents> exponents =
      products(numeric_powers(model, numeric_factors(model.factors())));
  const double combinations = combination_count(model.factors());
  const double coefficients = static_cast<double>(exponents.size()) * combinations;
  const double work = static_cast<double>(inverse.size()) * combinations;
  if (exponents.empty() || coefficients > kMaxCoefficients || work > kMaxProducts ||
      combinations > kMaxCategoricalCombinations) {
    MaxVariance found = AllowedSearch(model, {}, inverse, time_limit_s).sampled(kStartPoints, true);
    found.upper_bound = inverse.lpNorm<1>();
    found.proven = found.upper_bound <= found.value * (1 + gap);
    return found;
  }
  return VariancePolynomials(model, exponents).maximum(inverse, gap, time_limit_s);
}

}  // namespace

MaxVariance max_variance(const Model& model, const Region& region,
                         const Eigen::MatrixXd& inverse_information, double relative_gap,
                         double time_limit_s) {
  if (region.is_box()) return box_maximum(model, inverse_information, relative_gap, time_limit_s);
  const AllowedSearch search(model, region, inverse_information, time_limit_s);
  if (few_combinations(model.factors(), kMaxCombinations)) {
    return search.sampled(kMaxCombinations, false);
  }
  const MaxVariance over_box = box_maximum(model, inverse_information, relative_gap, time_limit_s);
  if (region.allows(natural_settings(model.factors(), over_box.at))) return over_box;
  MaxVariance found = search.sampled(kStartPoints, true);
  found.upper_bound = over_box.upper_bound;
  found.proven = found.upper_bound <= found.value * (1 + relative_gap);
  return found;
}

}  // namespace doetune::doe
