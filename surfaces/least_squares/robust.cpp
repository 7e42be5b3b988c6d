#include "surfaces/least_squares/robust.h"

#include <ceres/ceres.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace doetune::surfaces {
namespace {

/// Tuning constants for 95 % efficiency at normal errors.
constexpr double kHuber = 1.345, kTukey = 4.685;

/// The residual z - q t of one run.
class RunResidual final : public ceres::CostFunction {
 public:
  RunResidual(Eigen::RowVectorXd q, double z) : q_(std::move(q)), z_(z) {
    set_num_residuals(1);
    mutable_parameter_block_sizes()->push_back(static_cast<int>(q_.size()));
  }

  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override {
    residuals[0] = z_ - q_.dot(Eigen::Map<const Eigen::VectorXd>(parameters[0], q_.size()));
    if (jacobians && jacobians[0]) {
      Eigen::Map<Eigen::RowVectorXd>(jacobians[0], q_.size()) = -q_;
    }
    return true;
  }

 private:
  Eigen::RowVectorXd q_;
  double z_;
};

std::unique_ptr<ceres::LossFunction> loss_of(Loss loss, double scale) {
  if (loss == Loss::kHuber) return std::make_unique<ceres::HuberLoss>(kHuber * scale);
  return std::make_unique<ceres::TukeyLoss>(kTukey * scale);
}

/// Minimises sum rho((z - q t) / scale) over t.
void minimise(const Eigen::MatrixXd& q, const Eigen::VectorXd& z, Loss loss, double scale,
              Eigen::VectorXd& t) {
  ceres::Problem::Options ownership;
  ownership.loss_function_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
  const std::unique_ptr<ceres::LossFunction> rho = loss_of(loss, scale);
  ceres::Problem problem(ownership);
  for (Eigen::Index i = 0; i < q.rows(); ++i) {
    problem.AddResidualBlock(new RunResidual(q.row(i), z[i]), rho.get(), t.data());
  }
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_NORMAL_CHOLESKY;  // the columns are orthonormal
  options.logging_type = ceres::SILENT;
  options.max_num_iterations = 200;
  options.function_tolerance = 1e-16;
  options.gradient_tolerance = 1e-12 * scale;
  options.parameter_tolerance = 1e-14;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  if (!summary.IsSolutionUsable()) throw FitError("the robust fit does not converge");
}

double median_scale(const Eigen::VectorXd& residuals) {
  std::vector<double> sizes(residuals.size());
  std::transform(residuals.begin(), residuals.end(), sizes.begin(),
                 [](double r) { return std::abs(r); });
  std::sort(sizes.begin(), sizes.end());
  const std::size_t middle = sizes.size() / 2;
  const double median =
      sizes.size() % 2 == 1 ? sizes[middle] : (sizes[middle - 1] + sizes[middle]) / 2;
  return median / 0.6745;
}

/// Alternates between t and the scale of its residuals until the scale converges.
double alternate(const Eigen::MatrixXd& q, const Eigen::VectorXd& z, Loss loss,
                 Eigen::VectorXd& t) {
  // The median jumps when residuals change order, so the iteration may cycle: then the scale moves
  // only half the way, and converges to fewer digits.
  constexpr int kTurns = 500, kFreeTurns = 50;
  constexpr double kStays = 1e-10, kSettles = 1e-4, kNothing = 1e-12;
  double scale = median_scale(z - q * t);
  for (int turn = 0; turn < kTurns; ++turn) {
    if (scale <= kNothing * z.cwiseAbs().maxCoeff()) {
      throw FitError(
          "more than half of the runs are fitted exactly, so a robust fit cannot estimate the "
          "scale of the errors; use least squares");
    }
    minimise(q, z, loss, scale, t);
    const double next = median_scale(z - q * t);
    const bool free = turn < kFreeTurns;
    if (std::abs(next - scale) <= (free ? kStays : kSettles) * scale) return next;
    scale = free ? next : (scale + next) / 2;
  }
  throw FitError("the scale of the robust fit does not converge; use least squares");
}

/// The derivative of psi(u) = u rho'(u^2), with rho scaled to u = r / s.
double psi_slope(Loss loss, double u) {
  if (loss == Loss::kHuber) return std::abs(u) <= kHuber ? 1 : 0;
  const double t = std::pow(u / kTukey, 2);
  return t < 1 ? (1 - t) * (1 - 5 * t) : 0;
}

}  // namespace

RobustErrors robust_errors(const Eigen::MatrixXd& columns, const Eigen::VectorXd& z, Loss loss) {
  const Eigen::Index n = columns.rows(), p = columns.cols();
  if (n == p) throw FitError("a robust fit needs more runs than model terms");
  Eigen::MatrixXd q = Eigen::MatrixXd::Identity(n, p);
  q.applyOnTheLeft(Eigen::HouseholderQR<Eigen::MatrixXd>(columns).householderQ());
  Eigen::VectorXd t = q.transpose() * z;
  RobustErrors errors;
  errors.scale = alternate(q, z, Loss::kHuber, t);
  if (loss == Loss::kTukey) errors.scale = alternate(q, z, loss, t);

  const Eigen::VectorXd u = (z - q * t) / errors.scale;
  const std::unique_ptr<ceres::LossFunction> rho = loss_of(loss, 1);
  errors.counts.resize(n);
  Eigen::VectorXd slopes(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    double values[3];
    rho->Evaluate(u[i] * u[i], values);
    errors.counts[i] = values[1];
    slopes[i] = psi_slope(loss, u[i]);
  }
  const double slope = slopes.mean();
  const double spread = (slopes.array() - slope).square().sum() / static_cast<double>(n - 1);
  const double correction =
      1 + static_cast<double>(p) * spread / (static_cast<double>(n) * slope * slope);
  const double psi = u.cwiseProduct(errors.counts).squaredNorm() / static_cast<double>(n - p);
  errors.coefficient_scale = errors.scale * std::sqrt(psi) * correction / slope;
  return errors;
}

}  // namespace doetune::surfaces
