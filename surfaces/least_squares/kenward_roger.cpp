#include <Eigen/Dense>
#include <cmath>

#include "surfaces/distributions.h"
#include "surfaces/least_squares/whole_plots.h"
#include "surfaces/split_plot.h"

namespace doetune::surfaces {
namespace {

/// L with LL' = a, for a symmetric and positive semidefinite up to rounding.
Eigen::MatrixXd symmetric_root(const Eigen::MatrixXd& a) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(a);
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
}

double sum_of_products(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a.array() * b.array()).sum();
}

/// The degrees of freedom and the scale of F.
struct Denominator {
  double df = 0;
  double scale = 1;
};

/// From the sums A1 and A2 of the paper.
Denominator denominator(double l, double a1, double a2) {
  // Matches the first moment alone, F(l, df) with mean 1 / (1 - A2 / l): Satterthwaite's degrees of
  // freedom for one contrast, and positive where F has no moments.
  const Denominator by_mean{2 * l / a2, 1};
  if (a2 >= l) return by_mean;
  const double b = (a1 + 6 * a2) / (2 * l);
  const double g = ((l + 1) * a1 - (l + 4) * a2) / ((l + 2) * a2);
  const double common = 3 * l + 2 * (1 - g);
  const double c1 = g / common, c2 = (l - g) / common, c3 = (l + 2 - g) / common;
  const double mean = 1 / (1 - a2 / l);
  const double variance = 2 / l * (1 + c1 * b) / (std::pow(1 - c2 * b, 2) * (1 - c3 * b));
  const double rho = variance / (2 * mean * mean);
  if (!(l * rho > 1)) return by_mean;
  const double df = 4 + (l + 2) / (l * rho - 1);
  return {df, df / (mean * (df - 2))};
}

}  // namespace

// In the coordinates of Q the covariance is I.
KenwardRoger kenward_roger(const WholePlots& plots, double d, const Eigen::MatrixXd& q,
                           const Eigen::MatrixXd& root) {
  const Eigen::ArrayXd s2 = plots.scales(d), m = plots.sizes();
  const Eigen::MatrixXd totals = plots.totals(q);
  const auto of_totals = [&](const Eigen::ArrayXd& weights) -> Eigen::MatrixXd {
    return totals.transpose() * weights.matrix().asDiagonal() * totals;
  };
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(q.cols(), q.cols());
  const Eigen::MatrixXd d1 = of_totals(s2), d2 = identity - of_totals((1 - s2) / m);
  const Eigen::MatrixXd q11 = of_totals(m * s2.square()), q12 = of_totals(s2.square());
  const Eigen::MatrixXd q22 = identity - of_totals((1 - s2.square()) / m);

  Eigen::Matrix2d information;
  information(0, 0) = (m * s2).square().sum() - 2 * q11.trace() + sum_of_products(d1, d1);
  information(0, 1) = (m * s2.square()).sum() - 2 * q12.trace() + sum_of_products(d1, d2);
  information(1, 1) = (m - 1 + s2.square()).sum() - 2 * q22.trace() + sum_of_products(d2, d2);
  information(1, 0) = information(0, 1);

  KenwardRoger result;
  result.ratio = d;
  result.of_variances = 2 * information.inverse();
  const Eigen::Matrix2d& w = result.of_variances;
  const Eigen::MatrixXd adjustment = 2 * w(0, 0) * (q11 - d1 * d1) +
                                     2 * w(0, 1) * (2 * q12 - d1 * d2 - d2 * d1) +
                                     2 * w(1, 1) * (q22 - d2 * d2);
  result.adjustment_root = root * symmetric_root(adjustment);
  result.covariance = root * root.transpose();
  result.derivatives = {root * d1 * root.transpose(), root * d2 * root.transpose()};
  return result;
}

Eigen::MatrixXd KenwardRoger::adjusted_covariance() const {
  return covariance + adjustment_root * adjustment_root.transpose();
}

double KenwardRoger::df(const Eigen::RowVectorXd& row) const {
  const double v = (row * covariance).dot(row);
  if (v == 0) return 1;  // the difference of a configuration from itself is certain with any number
  const Eigen::Vector2d a((row * derivatives[0]).dot(row), (row * derivatives[1]).dot(row));
  return 2 * v * v / a.dot(of_variances * a);
}

double KenwardRoger::next_run_df(const Eigen::RowVectorXd& row) const {
  const double v = (row * covariance).dot(row) + 1 + ratio;
  const Eigen::Vector2d a(1 + (row * derivatives[0]).dot(row), 1 + (row * derivatives[1]).dot(row));
  return 2 * v * v / a.dot(of_variances * a);
}

PartTest KenwardRoger::test(const Eigen::MatrixXd& contrasts, const Eigen::VectorXd& b,
                            double run_variance) const {
  const auto l = static_cast<int>(contrasts.rows());
  const Eigen::LLT<Eigen::MatrixXd> root(contrasts * covariance * contrasts.transpose());
  std::array<Eigen::MatrixXd, 2> e;
  for (std::size_t i = 0; i < 2; ++i) {
    e[i] = root.solve(contrasts * derivatives[i] * contrasts.transpose());
  }
  Eigen::Matrix2d traces, products;
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      traces(i, j) = e[i].trace() * e[j].trace();
      products(i, j) = sum_of_products(e[i], e[j].transpose());
    }
  }
  const Denominator below = denominator(l, sum_of_products(of_variances, traces),
                                        sum_of_products(of_variances, products));
  const Eigen::VectorXd values = contrasts * b;
  const Eigen::MatrixXd adjusted = contrasts * adjusted_covariance() * contrasts.transpose();
  const double wald = values.dot(adjusted.llt().solve(values)) / run_variance;
  const double f = below.scale * wald / l;
  return {"", l, below.df, f, f_p_value(f, l, below.df)};
}

KenwardRoger KenwardRoger::of_first(Eigen::Index columns) const {
  KenwardRoger part = *this;
  part.covariance = covariance.topLeftCorner(columns, columns);
  part.adjustment_root = adjustment_root.topRows(columns);
  for (Eigen::MatrixXd& derivative : part.derivatives) {
    derivative = Eigen::MatrixXd(derivative.topLeftCorner(columns, columns));
  }
  return part;
}

}  // namespace doetune::surfaces
