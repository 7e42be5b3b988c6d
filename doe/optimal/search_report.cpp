#include "doe/optimal/search_report.h"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "doe/evaluation/moments.h"
#include "doe/optimal/approximate_design.h"
#include "doe/optimal/budget.h"

namespace doetune::doe {
namespace {

constexpr double kBoundTime_s = 1;

/// Upper bound on the D-efficiency, percent.
std::optional<double> determinant_bound(const DesignRequest& request) {
  if (is_plan_of_words(request)) {
    const Eigen::MatrixXd best = moment_matrix(request.model, request.region);
    const Eigen::VectorXd diagonal = best.llt().matrixLLT().diagonal();
    return 100 * std::exp(2 * diagonal.array().log().mean());
  }
  const auto bound = d_bound(request.model, request.region, kBoundTime_s);
  const bool known = bound && bound->proven && std::isfinite(bound->efficiency_percent);
  return known ? std::optional(bound->efficiency_percent) : std::nullopt;
}

/// Lower bound on the trace times the number of runs.
std::optional<double> trace_bound(const CriterionWeights& weights, const DesignRequest& request) {
  if (is_plan_of_words(request) && weights.i > 0) return request.model.column_count();
  const auto bound =
      linear_bound(request.model, request.region, trace_weight(weights, request), kBoundTime_s);
  return bound && bound->proven && bound->least > 0 ? std::optional(bound->least) : std::nullopt;
}

/// The compound of the D-efficiency and 100 / (n trace), both in percent and larger-is-better.
double compound(const CriterionWeights& weights, double determinant, double inverse_trace) {
  return std::pow(determinant, weights.d) * std::pow(inverse_trace, 1 - weights.d);
}

std::optional<double> bound_of(const CriterionWeights& weights, const DesignRequest& request,
                               double all_runs) {
  if (!is_plain(request)) return std::nullopt;
  const auto determinant = weights.d > 0 ? determinant_bound(request) : 1;
  if (weights.d == 1 || !determinant) return determinant;
  const auto trace = trace_bound(weights, request);
  if (!trace) return std::nullopt;
  return weights.d == 0 ? *trace / all_runs : compound(weights, *determinant, 100 / *trace);
}

std::string trace_name(const CriterionWeights& weights) {
  return weights.i > 0 ? "average prediction variance" : "sum of coefficient variances";
}

std::string criterion_name(const CriterionWeights& weights, const DesignRequest& request) {
  const std::string plots = in_whole_plots(request) ? " in whole plots" : "";
  if (weights.d == 1) return "D-efficiency" + plots + ", percent";
  if (weights.d == 0) return trace_name(weights) + plots + ", in sigma^2";
  return fmt::format("D-efficiency^{:.3g} (1 / (runs x {}))^{:.3g}{}, percent", weights.d,
                     trace_name(weights), 1 - weights.d, plots);
}

double best_of(const CriterionWeights& weights, double value, int columns, double all_runs) {
  if (weights.d == 1) return 100 * std::exp(value / columns) / all_runs;
  return weights.d == 0 ? std::exp(-value) : 100 * std::exp(value) / all_runs;
}

}  // namespace

Eigen::MatrixXd trace_weight(const CriterionWeights& weights, const DesignRequest& request) {
  const int p = request.model.column_count();
  return weights.i > 0 ? moment_matrix(request.model, request.region)
                       : Eigen::MatrixXd::Identity(p, p).eval();
}

bool is_plain(const DesignRequest& request) {
  return request.region.is_box() && request.options.blocks == 1 && request.existing.rows() == 0 &&
         request.options.possible.empty() && !in_whole_plots(request);
}

bool is_plan_of_words(const DesignRequest& request) {
  return std::ranges::all_of(request.factors, &Factor::is_categorical) &&
         request.model.terms() == Model::named("linear", request.factors).terms();
}

SearchReport search_report(const CriterionWeights& weights, const DesignRequest& request,
                           const ExchangeProblem& problem, const SearchResult& found,
                           double all_runs) {
  SearchReport report;
  report.criterion = criterion_name(weights, request);
  report.best = best_of(weights, found.value, problem.space.column_count(), all_runs);
  report.bound = bound_of(weights, request, all_runs);
  report.starts = found.starts;
  report.best_found = found.best_found;
  report.seconds = found.seconds;
  report.stopped_by_time = found.stopped_by_time;
  return report;
}

std::string both_criteria(const CriterionWeights& weights, const DesignRequest& request,
                          ExchangeProblem problem, const SearchResult& found, double all_runs) {
  if (problem.criterion != ExactCriterion::kCompound || in_whole_plots(request)) return {};
  problem.criterion = ExactCriterion::kDeterminant;
  const auto determinant = exact_value(problem, found.design);
  problem.criterion = ExactCriterion::kTrace;
  const auto trace = exact_value(problem, found.design);
  if (!determinant || !trace) return {};
  return fmt::format("D-efficiency {:.5g} percent, {} {:.5g} sigma^2",
                     100 * std::exp(*determinant / problem.space.column_count()) / all_runs,
                     trace_name(weights), std::exp(-*trace));
}

}  // namespace doetune::doe
