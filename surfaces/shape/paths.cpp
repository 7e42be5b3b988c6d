// Ridge analysis and steepest ascent.
#include <Eigen/Dense>
#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>

#include "surfaces/distributions.h"
#include "surfaces/shape.h"

namespace doetune::surfaces {
namespace {

/// The point of a path: numeric entries `c`, categorical ones as in `at`.
PathPoint path_point(const Fit& fit, const doe::Region& region, const Quadratic& quadratic,
                     const Eigen::VectorXd& at, const Eigen::VectorXd& c) {
  const std::vector<doe::Factor>& factors = fit.model.factors();
  PathPoint point{c.norm(), at, {}, {}, c.cwiseAbs().maxCoeff() <= 1 + 1e-12};
  point.coded(quadratic.factors) = c;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    point.settings.push_back(factors[f].to_natural(point.coded[static_cast<Eigen::Index>(f)]));
  }
  point.prediction = fit.predict(point.coded);
  point.inside_region = point.inside_region && region.allows(point.settings);
  return point;
}

/// 1 / y decreases with y: the sign that turns "higher response" into "higher z".
double direction_of(const Fit& fit, bool highest) {
  return (fit.transform == Transform::kInverse) == highest ? -1 : 1;
}

/// Maximises b'c + c'Bc on |c| = r > 0. In the eigenvector basis c_i = g_i / (mu - lambda_i) with g
/// = b / 2; |c| decreases from infinity to 0 as mu increases from the largest eigenvalue, unless g
/// vanishes along its eigenvectors (the hard case: the remaining length goes along one of them).
class SphereMaximum {
 public:
  SphereMaximum(const Eigen::VectorXd& b, const Eigen::MatrixXd& matrix)
      : eigen_(matrix), g_(eigen_.eigenvectors().transpose() * b / 2) {}

  Eigen::VectorXd at(double r) const {
    const double largest = eigen_.eigenvalues().maxCoeff();
    // Slightly beyond the point where the length is at most r, so that rounding does not hide it.
    const double reach = 1.001 * g_.norm() / r;
    const double tiny =
        1e-12 * std::max({reach, eigen_.eigenvalues().cwiseAbs().maxCoeff(), 1e-300});
    if (length(largest + tiny) <= r) return hard_case(largest, tiny, r);
    std::uintmax_t iterations = 200;
    const auto bracket = boost::math::tools::toms748_solve(
        [&](double mu) { return length(mu) - r; }, largest + tiny,
        largest + std::max(reach, 2 * tiny), boost::math::tools::eps_tolerance<double>(52),
        iterations);
    const Eigen::VectorXd c = turned((bracket.first + bracket.second) / 2);
    return c * (r / c.norm());
  }

 private:
  Eigen::VectorXd turned(double mu) const {
    return eigen_.eigenvectors() * (g_.array() / (mu - eigen_.eigenvalues().array())).matrix();
  }
  double length(double mu) const {
    return (g_.array() / (mu - eigen_.eigenvalues().array())).matrix().norm();
  }
  Eigen::VectorXd hard_case(double largest, double tiny, double r) const {
    Eigen::VectorXd c = Eigen::VectorXd::Zero(g_.size());
    for (Eigen::Index i = 0; i < g_.size(); ++i) {
      const double gap = largest - eigen_.eigenvalues()[i];
      if (gap > tiny) c[i] = g_[i] / gap;
    }
    const Eigen::Index last = g_.size() - 1;  // eigenvalues are ascending
    c[last] = std::sqrt(std::max(0.0, r * r - c.squaredNorm())) * (g_[last] < 0 ? -1 : 1);
    return eigen_.eigenvectors() * c;
  }

  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen_;
  Eigen::VectorXd g_;
};

/// Fraction of the unit sphere within the 95 % cone of a gradient b whose entries have a common
/// variance: sin^2 of its half angle is (k - 1) s_b^2 F(0.95; k - 1, df) / |b|^2.
std::optional<double> cone_fraction(const Fit& fit, const Quadratic& quadratic,
                                    const Eigen::VectorXd& at) {
  const auto k = static_cast<double>(quadratic.linear.size());
  if (!fit.sigma || *fit.sigma == 0 || k < 2) return std::nullopt;
  // The variances of the gradient's entries differ; the largest is conservative.
  const Eigen::Index columns = fit.model.column_count();
  double variance = 0;
  for (Eigen::Index i = 0; i < quadratic.linear.size(); ++i) {
    Eigen::VectorXd up = at, down = at;
    up[quadratic.factors[static_cast<std::size_t>(i)]] = 1;
    down[quadratic.factors[static_cast<std::size_t>(i)]] = -1;
    const Eigen::RowVectorXd slope = (fit.model.row(up) - fit.model.row(down)) / 2;
    variance = std::max(
        variance,
        slope.dot(fit.unscaled_covariance.topLeftCorner(columns, columns) * slope.transpose()));
  }
  const double f = boost::math::quantile(boost::math::fisher_f(k - 1, fit.df_residual), 0.95);
  const double sine_squared =
      (k - 1) * *fit.sigma * *fit.sigma * variance * f / quadratic.linear.squaredNorm();
  if (sine_squared >= 1) return 0.5;
  return boost::math::cdf(boost::math::beta_distribution<>((k - 1) / 2, 0.5), sine_squared) / 2;
}

Eigen::VectorXd centred_at(const Quadratic& quadratic, Eigen::VectorXd at) {
  at(quadratic.factors).setZero();
  return at;
}

}  // namespace

std::vector<PathPoint> ridge_path(const Fit& fit, const doe::Region& region,
                                  const Eigen::VectorXd& at, bool highest, double step,
                                  double farthest) {
  const std::optional<Quadratic> quadratic = quadratic_of(fit, at);
  if (!quadratic) return {};
  const double sign = direction_of(fit, highest);
  const SphereMaximum maximum(sign * quadratic->linear, sign * quadratic->second);
  const Eigen::Index k = quadratic->linear.size();
  std::vector<PathPoint> path{path_point(fit, region, *quadratic, at, Eigen::VectorXd::Zero(k))};
  const int steps = static_cast<int>(std::floor(farthest / step + 1e-9));
  for (int i = 1; i <= steps && path.back().inside_region; ++i) {
    path.push_back(path_point(fit, region, *quadratic, at, maximum.at(i * step)));
  }
  return path;
}

std::optional<SteepestPath> steepest_path(const Fit& fit, const doe::Region& region,
                                          const Eigen::VectorXd& at, bool ascent, double step,
                                          double farthest) {
  const std::optional<Quadratic> quadratic = quadratic_of(fit, at);
  if (!quadratic || quadratic->linear.isZero(0)) return std::nullopt;
  const Eigen::VectorXd direction =
      direction_of(fit, ascent) * quadratic->linear / quadratic->linear.cwiseAbs().maxCoeff();
  SteepestPath path{Eigen::VectorXd::Zero(at.size()), {}, {}};
  path.direction(quadratic->factors) = direction;
  path.cone_fraction = cone_fraction(fit, *quadratic, centred_at(*quadratic, at));
  const int steps = static_cast<int>(std::ceil(farthest / step - 1e-9));
  for (int i = 0; i <= steps; ++i) {
    path.points.push_back(path_point(fit, region, *quadratic, at, i * step * direction));
  }
  return path;
}

}  // namespace doetune::surfaces
