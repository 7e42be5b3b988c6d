#include "surfaces/models/law_search.h"

#include <ceres/cost_function.h>
#include <ceres/problem.h>
#include <ceres/solver.h>

#include <cmath>
#include <limits>

namespace doetune::surfaces {
namespace {

class Residuals final : public ceres::CostFunction {
 public:
  Residuals(const Law& law, const Eigen::VectorXd& x, const Eigen::VectorXd& y)
      : law_(law), x_(x), y_(y) {
    set_num_residuals(static_cast<int>(x.size()));
    mutable_parameter_block_sizes()->push_back(static_cast<int>(law.parameters.size()));
  }

  bool Evaluate(double const* const* parameters, double* residuals,
                double** jacobians) const override {
    const auto p = static_cast<Eigen::Index>(law_.parameters.size());
    const Eigen::VectorXd theta = Eigen::VectorXd::Map(parameters[0], p);
    const bool differentiate = jacobians != nullptr && jacobians[0] != nullptr;
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(p);
    for (Eigen::Index i = 0; i < x_.size(); ++i) {
      residuals[i] = law_.value(x_[i], theta, differentiate ? &gradient : nullptr) - y_[i];
      if (!std::isfinite(residuals[i]) || !gradient.allFinite()) return false;
      if (differentiate) Eigen::VectorXd::Map(jacobians[0] + i * p, p) = gradient;
    }
    return true;
  }

 private:
  const Law& law_;
  const Eigen::VectorXd& x_;
  const Eigen::VectorXd& y_;
};

/// Of the positive x; 1 where there are none.
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

/// The magnitude of a parameter after the first.
double unit_of(const LawParameter& parameter, const Eigen::VectorXd& x) {
  return std::pow(geometric_mean(x), parameter.x_power);
}

/// Every combination of the starts of the parameters after the first.
std::vector<Eigen::VectorXd> starts(const Law& law, const Eigen::VectorXd& x,
                                    const Eigen::VectorXd& y) {
  const auto p = static_cast<Eigen::Index>(law.parameters.size());
  std::vector<Eigen::VectorXd> all{Eigen::VectorXd::Ones(p)};
  for (Eigen::Index j = 1; j < p; ++j) {
    const LawParameter& parameter = law.parameters[j];
    const double unit = unit_of(parameter, x);
    std::vector<Eigen::VectorXd> longer;
    for (Eigen::VectorXd start : all) {
      for (const double value : parameter.starts) {
        start[j] = value * unit;
        longer.push_back(start);
      }
    }
    all = std::move(longer);
  }
  for (Eigen::VectorXd& start : all) {
    const Eigen::VectorXd shape = law_values(law, x, start);
    start[0] = shape.dot(y) / shape.squaredNorm();
  }
  return all;
}

/// Parameters on the bounds that they all but lie on, where the residual sum of squares is no
/// worse for it.
Eigen::VectorXd put_on_bounds(const Law& law, const Eigen::VectorXd& x, const Eigen::VectorXd& y,
                              Eigen::VectorXd theta) {
  const double allowed = (law_values(law, x, theta) - y).squaredNorm() * (1 + 1e-10);
  for (Eigen::Index j = 0; j < theta.size(); ++j) {
    for (const double bound : {law.parameters[j].low, law.parameters[j].high}) {
      if (!(std::abs(theta[j] - bound) < 1e-6 * unit_of(law.parameters[j], x))) continue;
      Eigen::VectorXd trial = theta;
      trial[j] = bound;
      if ((law_values(law, x, trial) - y).squaredNorm() <= allowed) theta = trial;
    }
  }
  return theta;
}

}  // namespace

Eigen::VectorXd law_values(const Law& law, const Eigen::VectorXd& x,
                           const Eigen::VectorXd& parameters) {
  return x.unaryExpr([&](double at) { return law.value(at, parameters, nullptr); });
}

Eigen::VectorXd improved_parameters(const Law& law, const Eigen::VectorXd& x,
                                    const Eigen::VectorXd& y, Eigen::VectorXd start) {
  ceres::Problem problem;
  problem.AddResidualBlock(new Residuals(law, x, y), nullptr, start.data());
  for (int j = 0; j < start.size(); ++j) {
    const LawParameter& parameter = law.parameters[j];
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
  options.gradient_tolerance = 1e-16;
  options.parameter_tolerance = 1e-14;
  ceres::Solver::Summary summary;
  ceres::Solve(options, &problem, &summary);
  return put_on_bounds(law, x, y, std::move(start));
}

Eigen::VectorXd best_parameters(const Law& law, const Eigen::VectorXd& x,
                                const Eigen::VectorXd& y) {
  Eigen::VectorXd best;
  double least = std::numeric_limits<double>::infinity();
  for (const Eigen::VectorXd& start : starts(law, x, y)) {
    const Eigen::VectorXd found = improved_parameters(law, x, y, start);
    const double rss = (law_values(law, x, found) - y).squaredNorm();
    // A later start has to be clearly better: equal ones differ by rounding.
    if (best.size() > 0 && !(rss < least * (1 - 1e-10))) continue;
    best = found;
    least = rss;
  }
  return best;
}

}  // namespace doetune::surfaces
