#include "tuning/run_cost.h"

#include <algorithm>
#include <cmath>

#include "doe/design.h"
#include "tuning/surrogate_models.h"

namespace doetune::tuning {
namespace {

constexpr double kMinCost = 0.01;  ///< of the cost of a mean run: extrapolated times may be absurd

}  // namespace

RunCosts::RunCosts(const Problem& problem, const std::vector<Observation>& so_far)
    : problem_(problem) {
  if (!problem.cost.by_time) return;
  std::vector<const Observation*> timed;
  for (const Observation& run : so_far) {
    if (run.completed && run.seconds > 0) timed.push_back(&run);
  }
  if (timed.empty()) return;
  const auto n = static_cast<Eigen::Index>(timed.size());
  Eigen::MatrixXd coded(n, problem.factors.size());
  Eigen::VectorXd seconds(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const Observation& run = *timed[static_cast<std::size_t>(i)];
    coded.row(i) = doe::coded_point(problem.factors, run.settings).transpose();
    seconds[i] = run.seconds;
  }
  mean_seconds_ = seconds.mean();
  if (seconds.maxCoeff() < kMuch * seconds.minCoeff()) return;
  try {
    seconds_ = surfaces::fit_gaussian_process(
        doe::Model::parse({"1"}, problem.factors), coded, seconds,
        {.transform = surfaces::Transform::kLog, .with_nugget = true, .threads = problem.threads});
  } catch (const surfaces::FitError&) {
    // Too few runs: the mean.
  }
}

Eigen::VectorXd RunCosts::of(const surfaces::Block& points,
                             const std::optional<Settings>& in_place) const {
  Eigen::VectorXd costs = Eigen::VectorXd::Ones(points.size());
  if (seconds_) {
    const Means means = predicted(*seconds_, points.coded);
    costs = (means.mean.col(0).array().exp() / mean_seconds_).max(kMinCost).matrix();
  }
  const RunCost& cost = problem_.cost;
  if (cost.change == 0 && !cost.weight) return costs;
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    const Settings settings = points.settings(i);
    if (!in_place || !same_whole_plot(problem_, settings, *in_place)) costs[i] += cost.change;
    if (cost.weight) costs[i] *= std::max(kMinCost, cost.weight(settings));
  }
  return costs;
}

}  // namespace doetune::tuning
