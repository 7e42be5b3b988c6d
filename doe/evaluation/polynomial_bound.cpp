#include "doe/evaluation/polynomial_bound.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace doetune::doe {
namespace {

constexpr int kAscentSteps = 12;

/// The maximum of slope t + curvature t^2 / 2 on [-1, 1].
double parabola_maximum(double slope, double curvature) {
  if (-curvature > std::abs(slope)) return -slope * slope / (2 * curvature);
  return std::abs(slope) + curvature / 2;
}

int total_degree(const std::vector<Monomials::Power>& powers) {
  int degree = 0;
  for (const Monomials::Power& power : powers) degree += power.exponent;
  return degree;
}

/// The Hessian at the centre, and a diagonal bound on the higher-order terms: if center +
/// diag(radius) is negative definite, so is the Hessian throughout the box.
struct SecondDerivatives {
  Eigen::MatrixXd center;
  Eigen::VectorXd radius;
};

SecondDerivatives second_derivatives(const Monomials& monomials,
                                     const Eigen::VectorXd& coefficients) {
  const int k = monomials.variables();
  SecondDerivatives h{Eigen::MatrixXd::Zero(k, k), Eigen::VectorXd::Zero(k)};
  for (int m = 0; m < monomials.size(); ++m) {
    const std::vector<Monomials::Power>& powers = monomials.powers(m);
    const int degree = total_degree(powers);
    if (degree == 2) {
      const int i = powers.front().variable;
      const int j = powers.back().variable;
      h.center(i, j) = h.center(j, i) = (i == j ? 2 : 1) * coefficients[m];
    } else if (degree > 2) {
      for (const Monomials::Power& power : powers) {
        h.radius[power.variable] += std::abs(coefficients[m]) * power.exponent * (degree - 1);
      }
    }
  }
  return h;
}

/// Gives a variable that does not occur in the polynomial a curvature of -1, so that h can be
/// factorised.
void fill_absent(Eigen::MatrixXd& h) {
  for (Eigen::Index i = 0; i < h.rows(); ++i) {
    if (h.col(i).isZero(0)) h(i, i) = -1;
  }
}

/// One Newton step for the variables that the slope does not hold at an end of their range.
void newton_step(const Eigen::MatrixXd& curvature, const Eigen::VectorXd& slope,
                 Eigen::VectorXd& t) {
  Eigen::MatrixXd h = curvature;
  Eigen::VectorXd g = slope;
  for (Eigen::Index i = 0; i < t.size(); ++i) {
    if (std::abs(t[i]) < 1 || t[i] * g[i] <= 0) continue;
    h.row(i).setZero();
    h.col(i).setZero();
    h(i, i) = -1;
    g[i] = 0;
  }
  t = (t + (-h).llt().solve(g)).cwiseMax(-1).cwiseMin(1);
}

}  // namespace

PolynomialBounds polynomial_bounds(const Monomials& monomials,
                                   const Eigen::VectorXd& coefficients) {
  const int k = monomials.variables();
  PolynomialBounds b;
  b.slope = b.slope_radius = b.curvature = b.curvature_radius = b.weight = Eigen::VectorXd::Zero(k);
  b.upper = coefficients[0];
  for (int m = 1; m < monomials.size(); ++m) {
    const double a = coefficients[m];
    if (a == 0) continue;
    const std::vector<Monomials::Power>& powers = monomials.powers(m);
    const bool alone = powers.size() == 1;
    bool even = true;
    for (const auto& [i, e] : powers) {
      even = even && e % 2 == 0;
      if (!(alone && e == 1)) b.slope_radius[i] += e * std::abs(a);
      if (e > 1 && !(alone && e == 2)) b.curvature_radius[i] += e * (e - 1) * std::abs(a);
    }
    if (alone && powers[0].exponent == 1) {
      b.slope[powers[0].variable] = a;
    } else if (alone && powers[0].exponent == 2) {
      b.curvature[powers[0].variable] = 2 * a;
    } else {
      const double most = even ? std::max(a, 0.0) : std::abs(a);
      b.upper += most;
      for (const Monomials::Power& power : powers) b.weight[power.variable] += std::abs(a);
    }
  }
  for (int i = 0; i < k; ++i) {
    b.upper += parabola_maximum(b.slope[i], b.curvature[i]);
    b.weight[i] += std::abs(b.curvature[i]) / 2;
  }
  return b;
}

double concave_upper_bound(const Monomials& monomials, const Eigen::VectorXd& coefficients,
                           Eigen::VectorXd& at) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  SecondDerivatives h = second_derivatives(monomials, coefficients);
  fill_absent(h.center);
  Eigen::MatrixXd largest = -h.center;
  largest.diagonal() -= h.radius;
  if ((largest.diagonal().array() <= 0).any()) return kNone;
  if (largest.llt().info() != Eigen::Success) return kNone;
  at = Eigen::VectorXd::Zero(monomials.variables());
  double best = kNone;
  Eigen::VectorXd t = at;
  for (int step = 0; step < kAscentSteps; ++step) {
    const Eigen::VectorXd slope = monomials.gradient(coefficients, t);
    const double bound = monomials.value(coefficients, t) + slope.lpNorm<1>() - slope.dot(t);
    if (bound >= best) break;
    best = bound;
    at = t;
    newton_step(h.center, slope, t);
  }
  return best;
}

}  // namespace doetune::doe
