#include "surfaces/optimum/uncertainty.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "doe/design.h"
#include "surfaces/models/posterior.h"
#include "surfaces/optimum/optima_of_draws.h"
#include "surfaces/optimum/score.h"
#include "surfaces/quantiles.h"

namespace doetune::surfaces {
namespace {

constexpr double kRegion = 0.95;
constexpr double kFixed = 1e-10;  // variance, coded squared: no optimum moves in a direction below
                                  // this

/// Squared Mahalanobis distance; infinite outside the directions that vary.
double squared_distance(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& eigen,
                        const Eigen::VectorXd& from_centre) {
  const Eigen::VectorXd along = eigen.eigenvectors().transpose() * from_centre;
  double distance = 0;
  for (Eigen::Index i = 0; i < along.size(); ++i) {
    const double square = along[i] * along[i];
    if (eigen.eigenvalues()[i] > kFixed) {
      distance += square / eigen.eigenvalues()[i];
    } else if (square > 100 * kFixed) {
      return std::numeric_limits<double>::infinity();
    }
  }
  return distance;
}

/// Whether two points are the same to a response, by its posterior or by its surface.
bool cannot_differ(const GoalResponse& response, bool by_posterior, const Eigen::VectorXd& from,
                   const Eigen::VectorXd& to) {
  if (by_posterior && response.posterior) {
    Eigen::MatrixXd both(2, from.size());
    both << from.transpose(), to.transpose();
    const Eigen::MatrixXd means = response.posterior->means(both);
    return means.col(0) == means.col(1);
  }
  const Prediction a = response.surface->predict(from), b = response.surface->predict(to);
  return a.mean == b.mean && a.standard_error == b.standard_error;
}

/// Whether the responses neither are predicted to depend on a factor nor may depend on it.
bool is_idle(const OptimumRequest& request, std::size_t f, bool by_posterior) {
  const doe::Factor& factor = request.factors[f];
  if (request.hold.count(factor.name) > 0) return false;
  const auto at = static_cast<Eigen::Index>(f);
  Eigen::VectorXd from(request.factors.size());
  for (std::size_t g = 0; g < request.factors.size(); ++g) {
    // Off the centre, so that interactions show.
    from[static_cast<Eigen::Index>(g)] =
        request.factors[g].is_categorical() ? 0 : 0.4 + 0.1 * static_cast<double>(g % 5);
  }
  const auto levels = static_cast<int>(factor.level_names.size());
  for (int i = 0; i < (factor.is_categorical() ? levels : 3); ++i) {
    Eigen::VectorXd to = from;
    to[at] = factor.is_categorical() ? i : i - 1;
    for (const GoalResponse& response : request.responses) {
      if (!cannot_differ(response, by_posterior, from, to)) return false;
    }
  }
  return true;
}

FactorUncertainty of_idle(const doe::Factor& factor) {
  FactorUncertainty result{factor.name, {}, {}, true};
  const std::size_t levels = factor.level_names.size();
  result.shares.resize(levels, 1 / static_cast<double>(levels));
  if (!factor.is_categorical()) result.settings = {factor.to_natural(-1), factor.to_natural(1)};
  return result;
}

FactorUncertainty of_factor(const doe::Factor& factor, const Eigen::VectorXd& coded, bool exact) {
  const std::vector<double> draws(coded.begin(), coded.end());
  FactorUncertainty result{factor.name, {}, {}, false};
  if (factor.is_categorical()) {
    result.shares.resize(factor.level_names.size(), 0);
    for (const double level : draws) {
      result.shares[static_cast<std::size_t>(level)] += 1 / static_cast<double>(draws.size());
    }
    return result;
  }
  const auto natural = [&](double share) {
    const double setting = factor.to_natural(quantile(draws, share));
    return exact ? setting : factor.snap(setting);
  };
  result.settings = {natural(0.05), natural(0.95)};
  return result;
}

std::optional<LocationRegion> region_of(const std::vector<doe::Factor>& factors,
                                        const std::vector<FactorUncertainty>& places,
                                        const Eigen::MatrixXd& coded) {
  LocationRegion region;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (factors[f].is_categorical() || places[f].anywhere) continue;
    region.factors.push_back(static_cast<Eigen::Index>(f));
  }
  if (region.factors.empty()) return std::nullopt;
  const Eigen::MatrixXd points = coded(Eigen::all, region.factors);
  region.centre = points.colwise().mean().transpose();
  const Eigen::MatrixXd about = points.rowwise() - region.centre.transpose();
  region.covariance = about.transpose() * about / static_cast<double>(points.rows());
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(region.covariance);
  std::vector<double> distances;
  for (Eigen::Index i = 0; i < about.rows(); ++i) {
    distances.push_back(squared_distance(eigen, about.row(i).transpose()));
  }
  region.radius_squared = quantile(std::move(distances), kRegion);
  return region;
}

/// The request restricted to the responses that count.
OptimumRequest with_goals_only(const OptimumRequest& request, const Eigen::VectorXd& coded) {
  OptimumRequest reduced = request;
  std::erase_if(reduced.responses, [](const GoalResponse& response) { return !counts(response); });
  const bool known = std::any_of(
      reduced.responses.begin(), reduced.responses.end(),
      [&](const GoalResponse& response) { return response.surface->predict(coded).df > 0; });
  if (!known) {
    throw std::invalid_argument(
        "no response with a goal has an error estimate, so the uncertainty of the optimum is "
        "unknown; add runs or choose a smaller model");
  }
  return reduced;
}

/// The best settings and the alternatives, coded.
Eigen::MatrixXd listed_points(const OptimumRequest& request, const Optimum& optimum) {
  Eigen::MatrixXd listed(1 + optimum.alternatives.size(), request.factors.size());
  listed.row(0) = doe::coded_point(request.factors, optimum.best.settings).transpose();
  for (std::size_t i = 0; i < optimum.alternatives.size(); ++i) {
    listed.row(static_cast<Eigen::Index>(i) + 1) =
        doe::coded_point(request.factors, optimum.alternatives[i].settings).transpose();
  }
  return listed;
}

}  // namespace

bool LocationRegion::contains(const Eigen::VectorXd& coded) const {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  return squared_distance(eigen, coded(factors) - centre) <= radius_squared + 1e-9;
}

OptimumUncertainty optimum_uncertainty(const OptimumRequest& request, const Optimum& optimum,
                                       int draws) {
  const Eigen::MatrixXd listed = listed_points(request, optimum);
  const OptimumRequest reduced = with_goals_only(request, listed.row(0).transpose());
  const auto goal = QuadraticGoal::of(reduced);
  if (goal && goal->response().posterior) draws = std::min(draws, Posterior::kDraws);
  const OptimaOfDraws optima = goal ? exact_optima(reduced, *goal, listed, draws)
                                    : optima_among_settings(reduced, listed, draws);
  OptimumUncertainty result;
  result.draws = draws;
  result.exact = goal.has_value();
  for (std::size_t f = 0; f < request.factors.size(); ++f) {
    const doe::Factor& factor = request.factors[f];
    const auto at = static_cast<Eigen::Index>(f);
    result.factors.push_back(is_idle(reduced, f, result.exact)
                                 ? of_idle(factor)
                                 : of_factor(factor, optima.coded.col(at), result.exact));
  }
  result.region = region_of(request.factors, result.factors, optima.coded);
  result.best_shares.resize(static_cast<std::size_t>(listed.rows()), 0);
  for (const Eigen::Index best : optima.best_listed) {
    result.best_shares[static_cast<std::size_t>(best)] += 1.0 / draws;
  }
  result.expected_desirability_loss = optima.desirability_loss.mean();
  const bool one_ramp = reduced.responses.size() == 1 && !reduced.responses[0].goal->is_limit();
  if (one_ramp) result.expected_response_loss = optima.response_loss.mean();
  return result;
}

}  // namespace doetune::surfaces
