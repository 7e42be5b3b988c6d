#include <Eigen/Dense>
#include <algorithm>

#include "surfaces/least_squares/fit_parts.h"
#include "surfaces/shape.h"

namespace doetune::surfaces {
namespace {

/// Eigenvalues below this fraction of the largest count as zero: the surface is a ridge there.
constexpr double kFlat = 1e-4;

/// The kind of stationary point of the response, from the eigenvalues on the scale of the fit.
std::string shape_of(const Eigen::VectorXd& eigenvalues, const Transform& transform) {
  // 1 / y decreases with y; the other transforms increase.
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

std::optional<Quadratic> quadratic_of(const Fit& fit, const Eigen::VectorXd& at) {
  const std::optional<QuadraticForm> all = fit.quadratic(at);
  Quadratic quadratic;
  const std::vector<doe::Factor>& factors = fit.model.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) quadratic.factors.push_back(static_cast<int>(f));
  }
  if (!all || quadratic.factors.empty()) return std::nullopt;
  quadratic.constant = all->constant;
  quadratic.linear = all->linear(quadratic.factors);
  quadratic.second = all->second(quadratic.factors, quadratic.factors);
  return quadratic;
}

std::optional<StationaryPoint> stationary_point_at(const Fit& fit, const Eigen::VectorXd& at) {
  const std::optional<Quadratic> quadratic = quadratic_of(fit, at);
  if (!quadratic || quadratic->second.isZero(0)) return std::nullopt;
  const Eigen::FullPivLU<Eigen::MatrixXd> lu(quadratic->second);
  if (!lu.isInvertible()) return std::nullopt;

  StationaryPoint point;
  const Eigen::VectorXd location = lu.solve(-0.5 * quadratic->linear);
  point.coded = at;
  point.coded(quadratic->factors) = location;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(quadratic->second);
  point.eigenvalues = eigen.eigenvalues();
  point.eigenvectors = Eigen::MatrixXd::Zero(at.size(), location.size());
  point.eigenvectors(quadratic->factors, Eigen::all) = eigen.eigenvectors();
  point.kind = shape_of(point.eigenvalues, fit.transform);
  point.value = fit.predict(point.coded).response();
  point.inside_region = location.cwiseAbs().maxCoeff() <= 1;
  const std::vector<doe::Factor>& factors = fit.model.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    point.settings.push_back(factors[f].to_natural(point.coded[static_cast<Eigen::Index>(f)]));
  }
  return point;
}

std::optional<StationaryPoint> stationary_point(const Fit& fit) {
  const std::vector<doe::Factor>& factors = fit.model.factors();
  if (std::any_of(factors.begin(), factors.end(),
                  [](const doe::Factor& factor) { return factor.is_categorical(); })) {
    return std::nullopt;
  }
  return stationary_point_at(fit, Eigen::VectorXd::Zero(static_cast<Eigen::Index>(factors.size())));
}

}  // namespace doetune::surfaces
