#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "base/random.h"
#include "surfaces/diagnostics.h"
#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

constexpr int kMinRuns = 8;
constexpr int kMinFreedom = 4;
constexpr int kMaxSimulatedRuns = 500;  // beyond, the chi-squared distribution is accurate
constexpr int kSimulations = 1999;
constexpr std::uint64_t kNoiseSeed = 1;

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

/// The columns of the model and the blocks, times roots_of_weights.
Eigen::MatrixXd weighted_columns(const Fit& fit) {
  const Eigen::Index columns = fit.model.column_count();
  Eigen::MatrixXd x(fit.n, fit.n - fit.df_residual);
  x.leftCols(columns) = fit.model.matrix(fit.coded);
  x.rightCols(x.cols() - columns) = block_contrasts(fit.blocks, fit.n);
  return roots_of_weights(fit).asDiagonal() * x;
}

bool has_error(const Fit& fit, int freedom) {
  return fit.df_residual >= freedom && fit.sigma && *fit.sigma > 0;
}

/// Slopes of squared residuals on the fitted values where the errors have equal variances.
struct SlopesOfNoise {
  double expected = 0;
  std::vector<double> slopes;

  /// about: fitted values about their mean.
  template <typename Slope>
  SlopesOfNoise(const Fit& fit, const Eigen::ArrayXd& about, const Slope& slope_of) {
    const Eigen::MatrixXd x = weighted_columns(fit);
    const Eigen::MatrixXd q = Eigen::HouseholderQR<Eigen::MatrixXd>(x).householderQ() *
                              Eigen::MatrixXd::Identity(x.rows(), x.cols());
    const Eigen::ArrayXd shares = (1 - q.rowwise().squaredNorm().array()) * fit.n / fit.df_residual;
    expected = (about * shares).sum() / about.square().sum();
    for (int s = 0; s < kSimulations; ++s) {
      RandomStream random(kNoiseSeed, static_cast<std::uint64_t>(s));
      Eigen::VectorXd errors(fit.n);
      for (double& error : errors) error = normal_draw(random.uniform());
      slopes.push_back(slope_of(errors - q * (q.transpose() * errors)));
    }
  }

  /// The fraction as far from the expected slope, the observed one included.
  double p_value(double slope) const {
    const auto as_far = std::count_if(slopes.begin(), slopes.end(), [&](double simulated) {
      return std::abs(simulated - expected) >= std::abs(slope - expected);
    });
    return (static_cast<double>(as_far) + 1) / (static_cast<double>(slopes.size()) + 1);
  }
};

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
  const Eigen::MatrixXd x = weighted_columns(fit);
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
  const auto slope_of = [&](const Eigen::VectorXd& residuals) {
    const Eigen::ArrayXd squares = residuals.array().square();
    return (about * (squares / squares.mean() - 1)).sum() / length;
  };
  const double slope = slope_of(roots_of_weights(fit).cwiseProduct(fit.residuals));
  BreuschPaganTest test;
  test.statistic = slope * slope * length / 2;
  if (fit.n > kMaxSimulatedRuns) {
    test.p = boost::math::cdf(boost::math::complement(boost::math::chi_squared(1), test.statistic));
    test.grows = slope > 0;
    return test;
  }
  const SlopesOfNoise noise(fit, about, slope_of);
  test.p = noise.p_value(slope);
  test.grows = slope > noise.expected;
  return test;
}

}  // namespace doetune::surfaces
