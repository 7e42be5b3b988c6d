#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "surfaces/diagnostics.h"
#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

constexpr int kMinRuns = 8;
constexpr int kMinFreedom = 4;

/// Studentised residuals, except of runs that alone determine a coefficient.
std::vector<double> usable_residuals(const Fit& fit) {
  std::vector<double> r;
  for (int i = 0; i < fit.n; ++i) {
    if (fit.leverage[i] < 1 - 1e-10) r.push_back(fit.studentised_residuals[i]);
  }
  return r;
}

/// Residuals times these have equal variance if the weights are correct.
Eigen::VectorXd roots_of_weights(const Fit& fit) {
  if (fit.weights.size() == 0) return Eigen::VectorXd::Ones(fit.n);
  return fit.weights.cwiseSqrt();
}

bool has_error(const Fit& fit, int freedom) {
  return fit.df_residual >= freedom && fit.sigma && *fit.sigma > 0;
}

/// P(A^2 > a) for a normal sample whose mean and variance were estimated.
double anderson_darling_p(double a) {
  if (a < 0.2) return 1 - std::exp(-13.436 + 101.14 * a - 223.73 * a * a);
  if (a < 0.34) return 1 - std::exp(-8.318 + 42.796 * a - 59.938 * a * a);
  if (a < 0.6) return std::exp(0.9177 - 4.279 * a - 1.38 * a * a);
  return std::exp(1.2937 - 5.709 * a + 0.0186 * a * a);
}

}  // namespace

std::optional<DriftTest> drift_test(const Fit& fit, const Eigen::VectorXd& order) {
  if (!has_error(fit, 2)) return std::nullopt;
  const Eigen::VectorXd roots = roots_of_weights(fit);
  const Eigen::Index columns = fit.model.column_count();
  Eigen::MatrixXd x(fit.n, fit.n - fit.df_residual);
  x.leftCols(columns) = fit.model.matrix(fit.coded);
  x.rightCols(x.cols() - columns) = block_contrasts(fit.blocks, fit.n);
  x = roots.asDiagonal() * x;
  const Eigen::VectorXd weighted = roots.cwiseProduct(order);
  const Eigen::VectorXd residuals = roots.cwiseProduct(fit.residuals);
  // The part of the order that is orthogonal to the model (Frisch & Waugh).
  const Eigen::VectorXd rest =
      weighted - x * Eigen::ColPivHouseholderQR<Eigen::MatrixXd>(x).solve(weighted);
  const double length = rest.squaredNorm();
  if (length < 1e-12 * weighted.squaredNorm()) return std::nullopt;
  DriftTest test;
  test.slope = rest.dot(residuals) / length;
  const double rss = residuals.squaredNorm() - test.slope * test.slope * length;
  const double df = fit.df_residual - 1;
  test.std_error = std::sqrt(std::max(0.0, rss) / df / length);
  if (test.std_error == 0) return std::nullopt;
  test.t = test.slope / test.std_error;
  test.p = t_p_value(test.t, df);
  return test;
}

std::optional<AssumptionTest> normality_test(const Fit& fit) {
  std::vector<double> r = usable_residuals(fit);
  if (!has_error(fit, kMinFreedom) || r.size() < kMinRuns) return std::nullopt;
  std::sort(r.begin(), r.end());
  const auto n = static_cast<Eigen::Index>(r.size());
  const Eigen::Map<const Eigen::ArrayXd> values(r.data(), n);
  const double mean = values.mean();
  const double deviation = std::sqrt((values - mean).square().sum() / static_cast<double>(n - 1));
  const boost::math::normal normal;
  double sum = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double low = (values[i] - mean) / deviation;
    const double high = (values[n - 1 - i] - mean) / deviation;
    sum += static_cast<double>(2 * i + 1) *
           (std::log(boost::math::cdf(normal, low)) +
            std::log(boost::math::cdf(boost::math::complement(normal, high))));
  }
  const auto count = static_cast<double>(n);
  AssumptionTest test;
  test.statistic = (-count - sum / count) * (1 + 0.75 / count + 2.25 / (count * count));
  test.p = std::clamp(anderson_darling_p(test.statistic), 0.0, 1.0);
  return test;
}

std::optional<BreuschPaganTest> breusch_pagan_test(const Fit& fit) {
  if (!has_error(fit, kMinFreedom)) return std::nullopt;
  const Eigen::ArrayXd about = fit.fitted.array() - fit.fitted.mean();
  const double length = about.square().sum();
  if (without_rounding(length, fit.fitted) == 0) return std::nullopt;
  const Eigen::ArrayXd squares = (roots_of_weights(fit).array() * fit.residuals.array()).square();
  const Eigen::ArrayXd u = squares / squares.mean();
  const double slope = (about * (u - 1)).sum() / length;
  BreuschPaganTest test;
  test.statistic = slope * slope * length / 2;
  test.p = boost::math::cdf(boost::math::complement(boost::math::chi_squared(1), test.statistic));
  test.grows = slope > 0;
  return test;
}

}  // namespace doetune::surfaces
