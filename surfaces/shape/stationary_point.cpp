#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "doe/design.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// Eigenvalues within this share of the largest count as none: the surface is a ridge there.
constexpr double kFlat = 1e-4;

/// A coefficient with the rounding of the responses taken for none: from exact data a coefficient
/// that is 0 comes out at some 1e-17, and would put the stationary point far out.
double coefficient_of(const Fit& fit, int column) {
  constexpr double kRounding = 100 * std::numeric_limits<double>::epsilon();
  const double size = std::hypot(fit.fitted.norm(), fit.residuals.norm());
  const double root = std::sqrt(fit.unscaled_covariance(column, column));
  return std::abs(fit.beta[column]) > kRounding * size * root ? fit.beta[column] : 0;
}

/// z = b0 + b'c + c'B c.
struct Quadratic {
  Eigen::VectorXd b;
  Eigen::MatrixXd matrix;
};

std::optional<Quadratic> as_quadratic(const Fit& fit) {
  const auto k = static_cast<Eigen::Index>(fit.model.factors().size());
  Quadratic q{Eigen::VectorXd::Zero(k), Eigen::MatrixXd::Zero(k, k)};
  bool curved = false;
  for (int c = 0; c < fit.model.column_count(); ++c) {
    const doe::Term& term = fit.model.terms()[fit.model.columns()[c].term];
    if (term.order() > 2) return std::nullopt;
    std::vector<Eigen::Index> factors;
    for (Eigen::Index f = 0; f < k; ++f) {
      for (int power = 0; power < term.powers[f]; ++power) factors.push_back(f);
    }
    if (factors.size() == 1) q.b[factors[0]] = coefficient_of(fit, c);
    if (factors.size() < 2) continue;
    q.matrix(factors[0], factors[1]) += coefficient_of(fit, c) / 2;
    q.matrix(factors[1], factors[0]) += coefficient_of(fit, c) / 2;
    curved = true;
  }
  if (!curved) return std::nullopt;
  return q;
}

/// The shape of the response, from the eigenvalues on the scale of the fit.
std::string shape_of(const Eigen::VectorXd& eigenvalues, const Transform& transform) {
  // 1 / y is highest where y is lowest; the other transforms rise with y.
  if (transform.is_decreasing()) return shape_of(-eigenvalues, Transform::kNone);
  const double flat = kFlat * eigenvalues.cwiseAbs().maxCoeff();
  const auto count = [&](auto predicate) {
    return std::count_if(eigenvalues.begin(), eigenvalues.end(), predicate);
  };
  const auto up = count([&](double value) { return value > flat; });
  const auto down = count([&](double value) { return value < -flat; });
  if (up + down < eigenvalues.size()) return "ridge";
  if (up == 0) return "maximum";
  return down == 0 ? "minimum" : "saddle";
}

}  // namespace

std::optional<StationaryPoint> stationary_point(const Fit& fit) {
  const std::vector<doe::Factor>& factors = fit.model.factors();
  if (std::any_of(factors.begin(), factors.end(),
                  [](const doe::Factor& factor) { return factor.is_categorical(); })) {
    return std::nullopt;
  }
  const std::optional<Quadratic> quadratic = as_quadratic(fit);
  if (!quadratic) return std::nullopt;
  const Eigen::FullPivLU<Eigen::MatrixXd> lu(quadratic->matrix);
  if (!lu.isInvertible()) return std::nullopt;

  StationaryPoint point;
  point.coded = lu.solve(-0.5 * quadratic->b);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(quadratic->matrix);
  point.eigenvalues = eigen.eigenvalues();
  point.eigenvectors = eigen.eigenvectors();
  point.kind = shape_of(point.eigenvalues, fit.transform);
  point.value = fit.predict(point.coded).response();
  point.inside_region = point.coded.cwiseAbs().maxCoeff() <= 1;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    point.settings.push_back(factors[f].to_natural(point.coded[f]));
  }
  return point;
}

}  // namespace doetune::surfaces
