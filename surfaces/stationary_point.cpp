#include <Eigen/Dense>
#include <algorithm>

#include "doe/design.h"
#include "surfaces/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// Eigenvalues within this share of the largest count as none: the surface is a ridge there.
constexpr double kFlat = 1e-4;

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
    if (factors.size() == 1) q.b[factors[0]] = fit.beta[c];
    if (factors.size() < 2) continue;
    q.matrix(factors[0], factors[1]) += fit.beta[c] / 2;
    q.matrix(factors[1], factors[0]) += fit.beta[c] / 2;
    curved = true;
  }
  if (!curved) return std::nullopt;
  return q;
}

std::string shape_of(const Eigen::VectorXd& eigenvalues) {
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
  point.kind = shape_of(point.eigenvalues);
  point.value = fit.predict(point.coded).response();
  point.inside_region = point.coded.cwiseAbs().maxCoeff() <= 1;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    point.settings.push_back(factors[f].to_natural(point.coded[f]));
  }
  return point;
}

}  // namespace doetune::surfaces
