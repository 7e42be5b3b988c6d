#include "surfaces/models/parametric_search.h"

#include <ceres/cost_function.h>
#include <ceres/problem.h>
#include <ceres/solver.h>

#include <cmath>
#include <limits>

namespace doetune::surfaces {
namespace {

class Residuals final : public ceres::CostFunction {
 public:
  explicit Residuals(const ParametricRuns& runs) : runs_(runs) {
    set_num_residuals(static_cast<int>(runs.x.size()));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(runs.model.parameters.size()));
  }

  /// False if a residual does not exist, so that the search steps back.
  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override {
    const auto p = static_cast<Eigen::Index>(runs_.model.parameters.size());
    const Eigen::VectorXd theta = Eigen::VectorXd::Map(parameters[0], p);
    const bool differentiate = jacobians != nullptr && jacobians[0] != nullptr;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(p);
    for (Eigen::Index i = 0; i < runs_.x.size(); ++i) {
      residuals[i] = model_on_scale(runs_.model, runs_.transform, runs_.x[i], theta,
                                    differentiate ? &gradient : nullptr) -
                     runs_.z[i];
      if (!std::isfinite(residuals[i]) || !gradient.allFinite()) return false;
      if (differentiate) Eigen::VectorXd::Map(jacobians[0] + i * p, p) = gradient;
    }
    return true;
  }

 private:
  const ParametricRuns& runs_;
};

/// Residual sum of squares; infinite if a residual does not exist.
double sum_of_squares(const ParametricRuns& runs, const Eigen::VectorXd& parameters) {
  const double sum = (model_values(runs, parameters) - runs.z).squaredNorm();
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
}

/// Geometric mean of the positive x; 1 if there are none.
double geometric_mean(const Eigen::VectorXd& x) {
  double sum = 0;
  int count = 0;
  for (const double value : x) {
    if (value <= 0) continue;
    sum += std::log(value);
    ++count;
  }
  return count > 0 ? std::exp(sum / count) : 1;
}

/// The scale of a parameter other than the first.
double unit_of(const ModelParameter& parameter, const Eigen::VectorXd& x) {
  return std::pow(geometric_mean(x), parameter.x_power);
}

/// The least-squares value of the first parameter in the response's own unit, given the others;
/// moved towards 0 until the transform is defined (logit: below 1).
double first_start(const ParametricRuns& runs, Eigen::VectorXd start) {
  const Eigen::VectorXd y =
      runs.z.unaryExpr([&](double z) { return back_transformed(runs.transform, z); });
  const Eigen::VectorXd shape =
      runs.x.unaryExpr([&](double x) { return runs.model.value(x, start, nullptr); });
  start[0] = shape.dot(y) / shape.squaredNorm();
  constexpr int kMaxHalvings = 60;
  for (int i = 0; i < kMaxHalvings && std::isinf(sum_of_squares(runs, start)); ++i) start[0] /= 2;
  return start[0];
}

/// Every combination of the starts of the parameters after the first for which the transform is
/// defined.
std::vector<Eigen::VectorXd> starts(const ParametricRuns& runs) {
  const auto p = static_cast<Eigen::Index>(runs.model.parameters.size());
  std::vector<Eigen::VectorXd> all{Eigen::VectorXd::Ones(p)};
  for (Eigen::Index j = 1; j < p; ++j) {
    const ModelParameter& parameter = runs.model.parameters[j];
    const double unit = unit_of(parameter, runs.x);
    std::vector<Eigen::VectorXd> longer;
    for (Eigen::VectorXd start : all) {
      for (const double value : parameter.starts) {
        start[j] = value * unit;
        longer.push_back(start);
      }
    }
    all = std::move(longer);
  }
  for (Eigen::VectorXd& start : all) start[0] = first_start(runs, start);
  std::erase_if(all, [&](const auto& start) { return std::isinf(sum_of_squares(runs, start)); });
  return all;
}

/// Moves parameters that are almost at a bound onto it, if the residual sum of squares does not
/// increase.
Eigen::VectorXd put_on_bounds(const ParametricRuns& runs, Eigen::VectorXd theta) {
  const double allowed = sum_of_squares(runs, theta) * (1 + 1e-10);
  for (Eigen::Index j = 0; j < theta.size(); ++j) {
    const ModelParameter& parameter = runs.model.parameters[j];
    for (const double bound : {parameter.low, parameter.high}) {
      if (!(std::abs(theta[j] - bound) < 1e-6 * unit_of(parameter, runs.x))) continue;
      Eigen::VectorXd trial = theta;
      trial[j] = bound;
      if (sum_of_squares(runs, trial) <= allowed) theta = trial;
    }
  }
  return theta;
}

}  // namespace

double model_on_scale(const ParametricModel& parametric, const Transform& transform, double x,
                      const Eigen::VectorXd& parameters, Eigen::VectorXd* gradient) {
  const double y = parametric.value(x, parameters, gradient);
  if (!has_value(transform, y)) return std::numeric_limits<double>::quiet_NaN();
  // Where the model is constant so is z, however steep the transform is (sqrt at y = 0).
  const bool moves = gradient != nullptr && (gradient->array() != 0).any();
  if (moves) *gradient *= transform_slope(transform, y);
  return transformed(transform, y);
}

Eigen::VectorXd model_values(const ParametricRuns& runs, const Eigen::VectorXd& parameters) {
  return runs.x.unaryExpr(
      [&](double x) { return model_on_scale(runs.model, runs.transform, x, parameters, nullptr); });
}

Eigen::VectorXd improved_parameters(const ParametricRuns& runs, Eigen::VectorXd start) {
  ceres::Problem problem;
  problem.AddResidualBlock(new Residuals(runs), nullptr, start.data());
  for (int j = 0; j < start.size(); ++j) {
    const ModelParameter& parameter = runs.model.parameters[j];
    if (std::isfinite(parameter.low)) {
      problem.SetParameterLowerBound(start.data(), j, parameter.low);
    }
    if (std::isfinite(parameter.high)) {
      problem.SetParameterUpperBound(start.data(), j, parameter.high);
    }
  }
  ceres::Solver::Options options;
  options.linear_solver_type = ceres::DENSE_QR;
  options.logging_type = ceres::SILENT;
  options.max_num_iterations = 500;
  options.function_tolerance = 1e-16;
  options.parameter_tolerance = 1e-14;
  // These two tolerances have units, and responses may have any magnitude.
  options.gradient_tolerance = 0;
  options.min_lm_diagonal = 1e-60;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return put_on_bounds(runs, std::move(start));
}

Eigen::VectorXd best_parameters(const ParametricRuns& runs) {
  Eigen::VectorXd best;
  double lowest = std::numeric_limits<double>::infinity();
  for (const Eigen::VectorXd& start : starts(runs)) {
    const Eigen::VectorXd found = improved_parameters(runs, start);
    const double rss = sum_of_squares(runs, found);
    // A later start must be clearly better: equal ones differ by rounding.
    if (best.size() > 0 && !(rss < lowest * (1 - 1e-10))) continue;
    best = found;
    lowest = rss;
  }
  return best;
}

}  // namespace doetune::surfaces
