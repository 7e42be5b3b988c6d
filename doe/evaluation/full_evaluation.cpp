#include "doe/evaluation/full_evaluation.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "doe/combinations.h"
#include "doe/evaluation/moments.h"
#include "doe/evaluation/region_sample.h"

namespace doetune::doe {
namespace {

constexpr int kSamplePoints = 10'000;
constexpr int kQuantileSteps = 20;

Eigen::VectorXd variances(const Model& model, const Eigen::MatrixXd& points,
                          const Eigen::MatrixXd& inverse) {
  const Eigen::MatrixXd f = model.matrix(points);
  return (f * inverse).cwiseProduct(f).rowwise().sum();
}

/// What a fraction 0, 1/20 ... 1 of the region does not exceed, from the variances at a sample.
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
  const Eigen::MatrixXd sample = region_sample(model.factors(), region, kSamplePoints);
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
  if (coded.rows() > 1) full.min_distance = min_run_distance(model.factors(), coded);
  const std::vector<int> numeric = numeric_factors(model.factors());
  if (!numeric.empty()) {
    full.centered_l2 =
        centered_l2_discrepancy((coded(Eigen::all, numeric).array() + 1).matrix() / 2);
  }
  return full;
}

double min_run_distance(const std::vector<Factor>& factors, const Eigen::MatrixXd& coded) {
  double least = std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      double squared = 0;
      for (std::size_t f = 0; f < factors.size(); ++f) {
        const double apart = coded(i, f) - coded(j, f);
        const double distance = factors[f].is_categorical() ? (apart != 0) : apart / 2;
        squared += distance * distance;
      }
      least = std::min(least, squared);
    }
  }
  return std::sqrt(least);
}

double centered_l2_discrepancy(const Eigen::MatrixXd& unit) {
  const auto n = static_cast<double>(unit.rows());
  const Eigen::ArrayXXd off = (unit.array() - 0.5).abs();
  double squared = std::pow(13.0 / 12, unit.cols());
  squared -= 2 / n * (1 + off / 2 - off.square() / 2).rowwise().prod().sum();
  for (Eigen::Index i = 0; i < unit.rows(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const auto apart = (unit.row(i) - unit.row(j)).array().abs();
      const double product = (1 + (off.row(i) + off.row(j) - apart) / 2).prod();
      squared += (i == j ? 1 : 2) * product / (n * n);
    }
  }
  return std::sqrt(squared);
}

}  // namespace doetune::doe
