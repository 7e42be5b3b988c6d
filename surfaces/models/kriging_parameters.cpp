#include "surfaces/models/kriging_parameters.h"

#include <ceres/first_order_function.h>
#include <ceres/gradient_problem.h>
#include <ceres/gradient_problem_solver.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "surfaces/fit.h"
#include "surfaces/models/posterior_draws.h"

namespace doetune::surfaces {
namespace {

/// Independent normal priors of the transformed parameters.
struct Prior {
  Eigen::VectorXd centre, deviation;

  Prior(const std::vector<doe::Factor>& factors, bool with_nugget)
      : centre(Eigen::VectorXd::Zero(factors.size() + (with_nugget ? 2 : 1))),
        deviation(Eigen::VectorXd::Constant(centre.size(), 1.5)) {
    const auto numeric = std::count_if(factors.begin(), factors.end(),
                                       [](const auto& factor) { return !factor.is_categorical(); });
    for (std::size_t f = 0; f < factors.size(); ++f) {
      centre[f] = factors[f].is_categorical() ? std::log(std::numbers::ln2)
                                              : std::log(2 * std::sqrt(numeric));
    }
    if (with_nugget) deviation[factors.size()] = 2;
    centre.tail(1)[0] = std::log(0.01);
    deviation.tail(1)[0] = 3;
  }

  Eigen::VectorXd scores(const Eigen::VectorXd& parameters) const {
    return (parameters - centre).cwiseQuotient(deviation);
  }

  /// The logarithm of the density at the centre.
  double log_constant() const {
    return -deviation.array().log().sum() -
           static_cast<double>(centre.size()) / 2 * std::log(2 * std::numbers::pi);
  }

  Eigen::MatrixXd precision() const {
    return deviation.array().square().inverse().matrix().asDiagonal();
  }
};

/// The negative logarithm of restricted likelihood times prior.
class Objective final : public ceres::FirstOrderFunction {
 public:
  Objective(const GroupedRuns& runs, const Prior& prior) : runs_(runs), prior_(prior) {}

  int NumParameters() const override { return static_cast<int>(prior_.centre.size()); }

  bool Evaluate(const double* parameters, double* cost, double* gradient) const override {
    const Eigen::VectorXd p = Eigen::VectorXd::Map(parameters, NumParameters());
    if (p.cwiseAbs().maxCoeff() > kFarthest) return false;
    const std::optional<Kriging> kriging = solve_kriging(runs_, p);
    if (!kriging) return false;
    const Eigen::VectorXd scores = prior_.scores(p);
    *cost = -kriging->log_likelihood + 0.5 * scores.squaredNorm();
    if (gradient != nullptr) {
      Eigen::VectorXd::Map(gradient, NumParameters()) =
          scores.cwiseQuotient(prior_.deviation) - likelihood_gradient(runs_, *kriging, p);
    }
    return true;
  }

  /// Infinite if the objective cannot be evaluated.
  double value(const Eigen::VectorXd& p) const {
    double cost = 0;
    return Evaluate(p.data(), &cost, nullptr) ? cost : std::numeric_limits<double>::infinity();
  }

 private:
  static constexpr double kFarthest = 50;  // so that exponentials stay finite

  const GroupedRuns& runs_;
  const Prior& prior_;
};

/// For each of a few noise levels, the best of several common length scales.
std::vector<Eigen::VectorXd> starts(const GroupedRuns& runs, const Prior& prior,
                                    const Objective& objective, int threads) {
  std::vector<double> noise_ratios{1e-4, 0.1};
  const int replicates = runs.n - runs.points_count();
  const double spread = (runs.responses.array() - runs.responses.mean()).square().mean();
  if (runs.pure_error > 0 && spread > 0) {
    noise_ratios.push_back(std::clamp(runs.pure_error / replicates / spread, 1e-6, 10.0));
  }
  const std::vector<double> shifts{-1.5, -0.5, 0.5};
  const int count = static_cast<int>(noise_ratios.size() * shifts.size());
  std::vector<Eigen::VectorXd> candidates(count, prior.centre);
  std::vector<double> values(count);
  parallel_for(count, threads, [&](int i) {
    candidates[i].array() += shifts[i % shifts.size()];
    candidates[i].tail(1)[0] = std::log(noise_ratios[i / shifts.size()]);
    values[i] = objective.value(candidates[i]);
  });
  std::vector<Eigen::VectorXd> chosen;
  for (auto group = values.begin(); group != values.end(); group += shifts.size()) {
    const auto best = std::min_element(group, group + shifts.size());
    if (std::isfinite(*best)) chosen.push_back(candidates[best - values.begin()]);
  }
  return chosen;
}

/// The precision of a normal approximation of the posterior at its mode: the second derivatives of
/// the objective by differences of its gradient, nowhere below a part of the prior's.
Eigen::MatrixXd precision_at(const Objective& objective, const Prior& prior,
                             const Eigen::VectorXd& mode) {
  constexpr double kStep = 1e-3, kMinOfPrior = 0.25;
  const Eigen::Index count = mode.size();
  Eigen::MatrixXd precision = prior.precision();
  for (Eigen::Index i = 0; i < count; ++i) {
    Eigen::VectorXd above = mode, below = mode, slope_above(count), slope_below(count);
    above[i] += kStep;
    below[i] -= kStep;
    double cost = 0;
    if (objective.Evaluate(above.data(), &cost, slope_above.data()) &&
        objective.Evaluate(below.data(), &cost, slope_below.data())) {
      precision.col(i) = (slope_above - slope_below) / (2 * kStep);
    }
  }
  const Eigen::MatrixXd symmetric = (precision + precision.transpose()) / 2;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(symmetric);
  const double smallest = kMinOfPrior * prior.precision().diagonal().minCoeff();
  return eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(smallest).asDiagonal() *
         eigen.eigenvectors().transpose();
}

/// The mixture that parameters are proposed from: mostly Student's t about the mode, and the prior,
/// which has the directions in which the runs decide nothing.
class Proposals {
 public:
  Proposals(const Prior& prior, Eigen::VectorXd mode, const Eigen::MatrixXd& precision)
      : prior_(prior), mode_(std::move(mode)), root_(precision) {}

  Eigen::VectorXd draw(PosteriorDraws& random) const {
    const Eigen::VectorXd normals = random.normals(mode_.size());
    if (random.uniform() < kOfPrior) {
      return prior_.centre + prior_.deviation.cwiseProduct(normals);
    }
    const double scale = std::sqrt(kFreedom / random.chi_squared(kFreedom));
    return mode_ + scale * root_.matrixU().solve(normals);
  }

  /// The logarithm of the density.
  double log_density(const Eigen::VectorXd& parameters) const {
    const auto count = static_cast<double>(mode_.size());
    const double of_prior = prior_.log_constant() - 0.5 * prior_.scores(parameters).squaredNorm();
    const double square = (root_.matrixU() * (parameters - mode_)).squaredNorm();
    const double of_mode = std::lgamma((kFreedom + count) / 2) - std::lgamma(kFreedom / 2) -
                           count / 2 * std::log(kFreedom * std::numbers::pi) +
                           root_.matrixLLT().diagonal().array().log().sum() -
                           (kFreedom + count) / 2 * std::log1p(square / kFreedom);
    return std::log(kOfPrior * std::exp(of_prior) + (1 - kOfPrior) * std::exp(of_mode));
  }

 private:
  static constexpr double kOfPrior = 0.2, kFreedom = 5;

  const Prior& prior_;
  Eigen::VectorXd mode_;
  Eigen::LLT<Eigen::MatrixXd> root_;
};

}  // namespace

DrawnParameters drawn_parameters(const GroupedRuns& runs, const Eigen::VectorXd& mode, int count,
                                 int threads) {
  const int candidates = 8 * count;
  const Prior prior(runs.factors, mode.size() > static_cast<Eigen::Index>(runs.factors.size()) + 1);
  const Objective objective(runs, prior);
  const Proposals proposals(prior, mode, precision_at(objective, prior, mode));
  PosteriorDraws random;
  std::vector<Eigen::VectorXd> proposed{mode};  // so that one can be evaluated
  while (static_cast<int>(proposed.size()) < candidates) proposed.push_back(proposals.draw(random));
  std::vector<double> log_weights(proposed.size());
  parallel_for(candidates, threads, [&](int i) {
    log_weights[i] = -objective.value(proposed[i]) - proposals.log_density(proposed[i]);
  });
  const std::vector<double> cumulative = cumulative_of(log_weights);
  DrawnParameters result;
  for (int i = 0; i < count; ++i) {  // systematic resampling
    const double at = (i + 0.5) / count * cumulative.back();
    result.drawn.push_back(
        proposed[std::lower_bound(cumulative.begin(), cumulative.end(), at) - cumulative.begin()]);
  }
  result.log_likelihood = log_sum(log_weights) - std::log(candidates) + prior.log_constant();
  return result;
}

Eigen::VectorXd estimated_parameters(const GroupedRuns& runs, bool with_nugget, int threads) {
  const Prior prior(runs.factors, with_nugget);
  const Objective objective(runs, prior);
  std::vector<Eigen::VectorXd> found = starts(runs, prior, objective, threads);
  std::vector<double> values(found.size());
  parallel_for(static_cast<int>(found.size()), threads, [&](int i) {
    ceres::GradientProblemSolver::Options options;
    options.line_search_direction_type = ceres::LBFGS;
    options.logging_type = ceres::SILENT;
    options.max_num_iterations = 100;
    options.function_tolerance = 1e-7;
    options.gradient_tolerance = 1e-5;
    ceres::GradientProblemSolver::Summary summary;
    // The problem takes ownership of its function.
    ceres::Solve(options, ceres::GradientProblem(new Objective(runs, prior)), found[i].data(),
                 &summary);
    values[i] = objective.value(found[i]);
  });
  if (found.empty()) throw FitError("no Gaussian process can be fitted to these runs");
  return found[std::min_element(values.begin(), values.end()) - values.begin()];
}

}  // namespace doetune::surfaces
