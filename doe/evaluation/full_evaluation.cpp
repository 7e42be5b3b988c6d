#include "doe/evaluation/full_evaluation.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "doe/combinations.h"
#include "doe/evaluation/moments.h"
#include "doe/evaluation/region_sample.h"
#include "doe/space_filling/criteria.h"

namespace doetune::doe {
namespace {

constexpr int kShownPoints = 10'000;
constexpr int kQuantileSteps = 20;

Eigen::VectorXd variances(const Model& model, const Eigen::MatrixXd& points,
                          const Eigen::MatrixXd& inverse) {
  const Eigen::MatrixXd f = model.matrix(points);
  return (f * inverse).cwiseProduct(f).rowwise().sum();
}

/// Quantiles 0, 1/20 ... 1 of the variances at a sample; the last is `maximum`.
std::vector<double> quantiles(Eigen::VectorXd d, double maximum) {
  std::sort(d.begin(), d.end());
  std::vector<double> found;
  for (int step = 0; step < kQuantileSteps; ++step) {
    found.push_back(d[(d.size() - 1) * step / kQuantileSteps]);
  }
  found.push_back(std::max(maximum, d[d.size() - 1]));
  return found;
}

void add_variances(const Model& model, const Region& region, const Eigen::MatrixXd& coded,
                   const EvaluationOptions& options, FullEvaluation& full) {
  const Eigen::MatrixXd x = model.matrix(coded);
  const Eigen::MatrixXd inverse =
      (x.transpose() * x).ldlt().solve(Eigen::MatrixXd::Identity(x.cols(), x.cols()));
  const double p_over_n = static_cast<double>(x.cols()) / static_cast<double>(x.rows());
  const Eigen::VectorXd leverages = variances(model, coded, inverse);
  const Eigen::MatrixXd sample = region_sample(model.factors(), region, kShownPoints);
  if (sample.rows() > 0) {
    const MaxVariance most = max_variance(model, region, inverse, 1e-6, options.time_limit_s);
    full.max_variance = most;
    full.g_efficiency = 100 * p_over_n / most.value;
    full.g_efficiency_least = 100 * p_over_n / most.upper_bound;
    full.average_variance = inverse.cwiseProduct(moment_matrix(model, region)).sum();
    full.variance_quantiles = quantiles(variances(model, sample, inverse), most.value);
  }
  full.leverages.assign(leverages.begin(), leverages.end());
  full.powers = term_powers(model, full.basics.runs, inverse, options.effect, options.alpha);
  full.aliases = alias_matrix(model, coded, inverse);
}

}  // namespace

FullEvaluation evaluate_fully(const Model& model, const Region& region,
                              const Eigen::MatrixXd& coded, const EvaluationOptions& options) {
  FullEvaluation full;
  full.basics = evaluate(model, coded);
  if (full.basics.log_det) add_variances(model, region, coded, options, full);
  full.correlation = correlation_map(model, coded);
  full.alias_sets = alias_sets(model, coded);
  if (coded.rows() > 1) full.min_distance = min_distance(unit_cube(model.factors(), coded));
  const std::vector<int> numeric = numeric_factors(model.factors());
  if (!numeric.empty()) {
    full.centered_l2 = centered_l2(unit_cube(model.factors(), coded).x(Eigen::all, numeric));
  }
  return full;
}

}  // namespace doetune::doe
