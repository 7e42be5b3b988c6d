#include "surfaces/least_squares/box_cox.h"

#include <Eigen/Dense>
#include <boost/math/tools/minima.hpp>
#include <boost/math/tools/roots.hpp>
#include <cmath>
#include <limits>

#include "surfaces/distributions.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

constexpr double kReach = 5;

/// l(lambda), with the decomposition of the columns computed once.
class Profile {
 public:
  Profile(const Eigen::MatrixXd& columns, const Eigen::VectorXd& y, Eigen::VectorXd roots)
      : qr_(columns), columns_(columns.cols()), roots_(std::move(roots)) {
    log_ratio_ = y.array().log();
    log_ratio_ -= log_ratio_.mean();
  }

  double operator()(double lambda) const {
    Eigen::VectorXd z = log_ratio_;
    if (lambda != 0) z = (lambda * log_ratio_).unaryExpr([](double v) { return std::expm1(v); });
    if (lambda != 0) z /= lambda;
    z = z.cwiseProduct(roots_);
    const Eigen::VectorXd along = qr_.householderQ().adjoint() * z;
    const Eigen::Index rest = z.size() - columns_;
    const double rss = without_rounding(along.tail(rest).squaredNorm(), z);
    return -0.5 * static_cast<double>(z.size()) * std::log(rss);
  }

 private:
  Eigen::HouseholderQR<Eigen::MatrixXd> qr_;
  Eigen::Index columns_;
  Eigen::VectorXd roots_;
  Eigen::ArrayXd log_ratio_;
};

/// Where l falls to `level` between `inside` and `outside`; `outside` if it does not.
double end_of_interval(const Profile& profile, double inside, double outside, double level) {
  const auto above = [&](double lambda) { return profile(lambda) - level; };
  if (above(outside) >= 0) return outside;
  std::uintmax_t iterations = 100;
  const auto [low, high] =
      boost::math::tools::toms748_solve(above, std::min(inside, outside), std::max(inside, outside),
                                        boost::math::tools::eps_tolerance<double>(40), iterations);
  return (low + high) / 2;
}

Transform suggested(double lambda, const Interval& interval) {
  const auto likely = [&](double value) { return interval.low <= value && value <= interval.high; };
  if (likely(1)) return Transform::kNone;
  Transform best = Transform::power(std::round(100 * lambda) / 100);
  double smallest = std::numeric_limits<double>::infinity();
  const std::pair<double, Transform> listed[] = {{0.5, Transform::kSqrt},
                                                 {0, Transform::kLog},
                                                 {-0.5, Transform::power(-0.5)},
                                                 {-1, Transform::kInverse}};
  for (const auto& [value, transform] : listed) {
    if (!likely(value) || std::abs(value - lambda) >= smallest) continue;
    smallest = std::abs(value - lambda);
    best = transform;
  }
  return best;
}

}  // namespace

BoxCox box_cox(const doe::Model& model, const Eigen::MatrixXd& coded, const Eigen::VectorXd& y,
               const FitOptions& options, double level) {
  FitOptions plain = options;
  plain.loss = Loss::kSquares;
  plain.whole_plots.clear();
  plain.transform = Transform::kLog;  // checks that y > 0
  const Fit fit = fit_least_squares(model, coded, y, plain);
  if (!fit.sigma || *fit.sigma == 0) {
    throw FitError("a power cannot be estimated: the model fits the responses exactly");
  }
  const Eigen::VectorXd roots =
      fit.weights.size() > 0 ? fit.weights.cwiseSqrt().eval() : Eigen::VectorXd::Ones(fit.n);
  const LeastSquaresProblem problem{model, coded, options.settings, fit.weights, fit.blocks};
  const Profile profile(roots.asDiagonal() * columns_of(problem), y, roots);

  BoxCox result;
  for (int step = -20; step <= 20; ++step) {
    result.lambdas.push_back(step / 10.0);
    result.log_likelihood.push_back(profile(step / 10.0));
  }
  const auto [lambda, lowest] = boost::math::tools::brent_find_minima(
      [&](double at) { return -profile(at); }, -kReach, kReach, 40);
  result.lambda = lambda;
  result.highest = -lowest;
  const double bound = result.highest - chi_squared_quantile(level, 1) / 2;
  result.interval = {end_of_interval(profile, lambda, -kReach, bound),
                     end_of_interval(profile, lambda, kReach, bound)};
  result.suggestion = suggested(lambda, result.interval);
  return result;
}

}  // namespace doetune::surfaces
