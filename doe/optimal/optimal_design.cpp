// Designs that are best by a criterion, for any model, region and number of runs.
//
// Atkinson, Donev & Tobias (2007), Optimum Experimental Designs, ch. 10 to 13. Terms that may
// matter: DuMouchel & Jones (1994), "A simple Bayesian modification of D-optimal designs",
// Technometrics 36: a prior of variance 1 on each of their coefficients.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "doe/combinations.h"
#include "doe/design.h"
#include "doe/evaluation/moments.h"
#include "doe/optimal/approximate_design.h"
#include "doe/optimal/search.h"

namespace doetune::doe {
namespace {

constexpr int kSpareRuns = 5;  ///< beyond the terms, where the number of runs is left open
constexpr double kTimeLimit_s = 10;

/// The model with the terms that may matter behind its own.
Model with_possible(const DesignRequest& request) {
  if (request.options.possible.empty()) return request.model;
  std::vector<Term> terms = request.model.terms();
  try {
    const Model possible = Model::parse(request.options.possible, request.factors);
    for (const Term& term : possible.terms()) {
      if (std::find(terms.begin(), terms.end(), term) == terms.end()) terms.push_back(term);
    }
  } catch (const ModelError& error) {
    throw DesignError(fmt::format("possible: {}", error.what()));
  }
  return Model(request.factors, std::move(terms));
}

/// Runs that are part of the design whatever is found: at the centre, in turn at every combination
/// of categorical levels.
std::vector<DesignPoint> center_points(const DesignRequest& request) {
  std::vector<DesignPoint> points;
  const auto combinations = categorical_combinations(request.factors);
  for (int i = 0; i < request.options.center_runs.value_or(0); ++i) {
    points.push_back({combinations[static_cast<std::size_t>(i) % combinations.size()],
                      PointType::kCenter, i % request.options.blocks + 1});
  }
  return points;
}

/// The information of fixed rows, k coordinates each.
void add_information(const SearchSpace& space, const Eigen::MatrixXd& rows, Eigen::MatrixXd& base) {
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const Eigen::RowVectorXd row = space.row(rows.row(i).transpose());
    base.noalias() += row.transpose() * row;
  }
}

/// The coordinates of points: the factors, and with blocks the block from 0.
Eigen::MatrixXd coordinates_of(const std::vector<DesignPoint>& points, const SearchSpace& space) {
  Eigen::MatrixXd rows(points.size(), space.coordinate_count());
  for (std::size_t i = 0; i < points.size(); ++i) {
    rows.row(i).head(space.factor_count()) = points[i].coded.transpose();
    if (space.coordinate_count() > space.factor_count()) {
      rows(i, space.factor_count()) = points[i].block - 1;
    }
  }
  return rows;
}

/// Runs made already carry what they say of the factors; their block is none of the design's.
void add_existing(const DesignRequest& request, const SearchSpace& space, Eigen::MatrixXd& base) {
  const Eigen::MatrixXd& existing = request.existing;
  if (existing.rows() == 0) return;
  Eigen::MatrixXd rows = Eigen::MatrixXd::Zero(existing.rows(), space.coordinate_count());
  rows.leftCols(existing.cols()) = existing;
  add_information(space, rows, base);
}

/// W of the criterion: the identity for A, the region's moments for I; 0 for blocks.
Eigen::MatrixXd trace_weight(std::string_view criterion, const DesignRequest& request,
                             const SearchSpace& space) {
  Eigen::MatrixXd weight = Eigen::MatrixXd::Zero(space.column_count(), space.column_count());
  const int own = request.model.column_count();
  if (criterion == "A") weight.topLeftCorner(own, own).setIdentity();
  if (criterion == "I")
    weight.topLeftCorner(own, own) = moment_matrix(request.model, request.region);
  return weight;
}

int run_count(const DesignRequest& request, int columns) {
  const int fixed = request.options.center_runs.value_or(0);
  const int existing = static_cast<int>(request.existing.rows());
  const int least = request.options.possible.empty() ? columns : request.model.column_count();
  const int runs = request.options.runs.value_or(std::max(columns + kSpareRuns - existing, 1));
  if (runs + existing < least) {
    throw DesignError(fmt::format(
        "{} runs cannot determine {} coefficients; give it {} runs or more, or a smaller model",
        runs + existing, least, least - existing));
  }
  if (runs <= fixed) {
    throw DesignError(
        fmt::format("of {} runs, {} at the centre leave none to choose", runs, fixed));
  }
  return runs - fixed;
}

/// What no design can pass, of any number of runs: for the runs alone, without blocks, earlier runs
/// or terms that only may matter.
std::optional<double> bound_of(std::string_view criterion, const DesignRequest& request,
                               double all_runs) {
  constexpr double kTime_s = 2;
  const bool plain = request.options.blocks == 1 && request.existing.rows() == 0 &&
                     request.options.possible.empty();
  if (!plain) return std::nullopt;
  if (criterion == "D") {
    const auto bound = d_bound(request.model, request.region, kTime_s);
    return bound && bound->proven ? std::optional(bound->efficiency_percent) : std::nullopt;
  }
  const int p = request.model.column_count();
  const Eigen::MatrixXd weight = criterion == "A" ? Eigen::MatrixXd::Identity(p, p)
                                                  : moment_matrix(request.model, request.region);
  const auto bound = linear_bound(request.model, request.region, weight, kTime_s);
  return bound && bound->proven ? std::optional(bound->least / all_runs) : std::nullopt;
}

SearchReport report_of(std::string_view criterion, const DesignRequest& request,
                       const SearchResult& found, int columns, double all_runs) {
  SearchReport report;
  if (criterion == "D") {
    report.criterion = "D-efficiency, percent";
    report.best = 100 * std::exp(found.value / columns) / all_runs;
  } else {
    report.criterion = criterion == "I" ? "average prediction variance, in sigma^2"
                                        : "sum of coefficient variances, in sigma^2";
    report.best = std::exp(-found.value);
  }
  report.bound = bound_of(criterion, request, all_runs);
  report.starts = found.starts;
  report.best_found = found.best_found;
  report.seconds = found.seconds;
  report.stopped_by_time = found.stopped_by_time;
  return report;
}

std::vector<DesignPoint> points_of(const SearchResult& found, const ExchangeProblem& problem) {
  std::vector<DesignPoint> points;
  for (Eigen::Index i = 0; i < found.design.rows(); ++i) {
    points.push_back(
        {found.design.row(i).head(problem.space.factor_count()).transpose(), PointType::kOptimal,
         problem.blocks.empty() ? 1 : problem.blocks[static_cast<std::size_t>(i)] + 1});
  }
  std::stable_sort(points.begin(), points.end(), [](const DesignPoint& a, const DesignPoint& b) {
    if (a.block != b.block) return a.block < b.block;
    return std::lexicographical_compare(a.coded.begin(), a.coded.end(), b.coded.begin(),
                                        b.coded.end());
  });
  return points;
}

ExchangeProblem problem_of(std::string_view criterion, const DesignRequest& request,
                           const std::vector<DesignPoint>& fixed) {
  if (request.model.column_count() == 0) throw DesignError("the model has no terms");
  DesignRequest extended = request;
  extended.model = with_possible(request);
  ExchangeProblem problem{SearchSpace(extended), 0, {}, {}, ExactCriterion::kDeterminant, {}};
  const int columns = problem.space.column_count();
  problem.runs = run_count(request, columns);
  problem.base = Eigen::MatrixXd::Zero(columns, columns);
  for (int c = request.model.column_count(); c < extended.model.column_count(); ++c) {
    problem.base(c, c) = 1;
  }
  add_information(problem.space, coordinates_of(fixed, problem.space), problem.base);
  add_existing(request, problem.space, problem.base);
  for (int i = 0; request.options.blocks > 1 && i < problem.runs; ++i) {
    problem.blocks.push_back(i % request.options.blocks);
  }
  if (criterion != "D") {
    problem.criterion = ExactCriterion::kTrace;
    problem.weight = trace_weight(criterion, request, problem.space);
  }
  return problem;
}

Design optimal_design(std::string_view criterion, const DesignRequest& request) {
  Design design;
  design.points = center_points(request);
  const ExchangeProblem problem = problem_of(criterion, request, design.points);
  const SearchSettings settings{request.options.starts,
                                request.options.time_limit_s.value_or(kTimeLimit_s),
                                request.threads, request.seed};
  const auto found = search_designs(problem, settings);
  if (!found) {
    throw DesignError(
        fmt::format("no design of {} runs that determines the model was found in {} starts: the "
                    "region may be too narrow, or a factor have too few settings for its terms",
                    problem.runs, settings.starts.value_or(0)));
  }
  const auto all_runs = static_cast<double>(problem.runs + request.existing.rows()) +
                        static_cast<double>(design.points.size());
  design.search = report_of(criterion, request, *found, problem.space.column_count(), all_runs);
  const std::vector<DesignPoint> points = points_of(*found, problem);
  design.points.insert(design.points.begin(), points.begin(), points.end());
  return design;
}

}  // namespace

Design d_optimal(const DesignRequest& request) { return optimal_design("D", request); }
Design i_optimal(const DesignRequest& request) { return optimal_design("I", request); }
Design a_optimal(const DesignRequest& request) { return optimal_design("A", request); }

}  // namespace doetune::doe
