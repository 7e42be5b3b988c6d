// D-, I-, A- and compound-optimal designs for any model, region and number of runs.
//
// Atkinson, Donev & Tobias (2007), Optimum Experimental Designs, ch. 10 to 13. Potential terms:
// DuMouchel & Jones (1994), "A simple Bayesian modification of D-optimal designs", Technometrics
// 36: a prior of variance 1 on each of their coefficients.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>

#include "doe/combinations.h"
#include "doe/design.h"
#include "doe/optimal/budget.h"
#include "doe/optimal/orthogonal_array.h"
#include "doe/optimal/search.h"
#include "doe/optimal/search_report.h"
#include "doe/optimal/split_plot_design.h"

namespace doetune::doe {
namespace {

constexpr std::uint64_t kLevelStream = std::uint64_t{0x6f61} << 32;
constexpr double kVarianceRatio =
    1;  ///< whole-plot to run error variance, as in Goos & Vandebroek (2001)

/// Multiplications per second that a search is taken to make: fewer than on most processors.
constexpr double kSearchRate = 4e9;
constexpr double kAlwaysEnough_s = 1;  ///< a time limit that no size is refused for

/// Throws DesignError if not even the first starts, eight at a time, fit in the time limit.
/// Counted, not measured, so that a study is refused on every machine or on none.
void check_time_limit(int runs, int columns, double time_limit_s) {
  const double work = 8.0 * runs * columns * columns;
  const double needed_s = std::ceil(work / kSearchRate);
  if (needed_s <= std::max(time_limit_s, kAlwaysEnough_s)) return;
  throw DesignError(fmt::format(
      "a search for {} runs that determine {} coefficients does not fit in a time_limit of {:g} s; "
      "give a smaller model, such as model: linear, or time_limit: {:.0f}s or more",
      runs, columns, time_limit_s, needed_s));
}

/// The model followed by the potential terms.
Model with_possible(const DesignRequest& request) {
  if (request.options.possible.empty()) return request.model;
  try {
    return request.model.with(request.options.possible);
  } catch (const ModelError& error) {
    throw DesignError(fmt::format("possible: {}", error.what()));
  }
}

/// Adds the information of fixed rows, k coordinates each.
void add_information(const SearchSpace& space, const Eigen::MatrixXd& rows, Eigen::MatrixXd& base) {
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const Eigen::RowVectorXd row = space.row(rows.row(i).transpose());
    base.noalias() += row.transpose() * row;
  }
}

/// Coordinates of points: the factors, and with blocks the block index from 0.
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

/// Adds the information of existing runs on the factors; they belong to none of the design's
/// blocks.
void add_existing(const DesignRequest& request, const SearchSpace& space, Eigen::MatrixXd& base) {
  std::map<int, std::vector<Eigen::Index>> whole_plots;
  for (Eigen::Index i = 0; i < request.existing.rows(); ++i) {
    const int plot = request.existing_whole_plots.empty() ? 0 : request.existing_whole_plots[i];
    whole_plots[plot > 0 ? plot : -1 - static_cast<int>(i)].push_back(i);
  }
  constexpr double kNoBlock = -1;  // its contrasts are all 0
  Eigen::VectorXd coordinates = Eigen::VectorXd::Constant(space.coordinate_count(), kNoBlock);
  for (const auto& [plot, runs] : whole_plots) {
    Eigen::MatrixXd rows(runs.size(), space.column_count());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      coordinates.head(request.existing.cols()) = request.existing.row(runs[i]).transpose();
      rows.row(static_cast<Eigen::Index>(i)) = space.row(coordinates);
    }
    base += whole_plot_information(rows, plot > 0 ? kVarianceRatio : 0);
  }
}

Needs needs_of(const DesignRequest& request, int columns) {
  Needs needs;
  needs.coefficients = request.options.possible.empty() ? columns : request.model.column_count();
  needs.earlier_runs = static_cast<int>(request.existing.rows());
  needs.usual_runs = std::max(columns + kSpareRuns - needs.earlier_runs, 1);
  if (!in_whole_plots(request)) return needs;
  needs.whole_plots = needs.earlier_runs > 0 ? 1 : std::max(fewest_whole_plots(request.model), 1);
  return needs;
}

/// `group` is the member that receives a point's block or whole plot.
void append_points(const SearchResult& found, const std::vector<int>& groups,
                   int DesignPoint::*group, int factors, Design& design) {
  std::vector<DesignPoint> points;
  for (Eigen::Index i = 0; i < found.design.rows(); ++i) {
    points.push_back({found.design.row(i).head(factors).transpose(), PointType::kOptimal});
    if (!groups.empty()) points.back().*group = groups[static_cast<std::size_t>(i)];
  }
  std::stable_sort(points.begin(), points.end(), [&](const DesignPoint& a, const DesignPoint& b) {
    if (a.*group != b.*group) return a.*group < b.*group;
    return std::lexicographical_compare(a.coded.begin(), a.coded.end(), b.coded.begin(),
                                        b.coded.end());
  });
  design.points.insert(design.points.begin(), points.begin(), points.end());
}

void set_criterion(const CriterionWeights& weights, const DesignRequest& request,
                   ExchangeProblem& problem) {
  if (weights.d == 1) return;
  problem.criterion = weights.d > 0 ? ExactCriterion::kCompound : ExactCriterion::kTrace;
  problem.determinant_weight = weights.d;
  problem.weight =
      Eigen::MatrixXd::Zero(problem.space.column_count(), problem.space.column_count());
  const int own = request.model.column_count();
  problem.weight.topLeftCorner(own, own) = trace_weight(weights, request);
}

/// The exchange problem except for the number of runs and the criterion.
ExchangeProblem problem_of(const DesignRequest& request, const std::vector<DesignPoint>& fixed) {
  if (request.model.column_count() == 0) throw DesignError("the model has no terms");
  DesignRequest extended = request;
  extended.model = with_possible(request);
  ExchangeProblem problem{SearchSpace(extended), 0, {}, {}, ExactCriterion::kDeterminant, {}};
  const int columns = problem.space.column_count();
  check_size(columns, columns);
  problem.base = Eigen::MatrixXd::Zero(columns, columns);
  for (int c = request.model.column_count(); c < extended.model.column_count(); ++c) {
    problem.base(c, c) = 1;
  }
  add_information(problem.space, coordinates_of(fixed, problem.space), problem.base);
  add_existing(request, problem.space, problem.base);
  return problem;
}

/// The largest orthogonal array with at most max_runs runs for main effects of categorical factors
/// with equal numbers of levels.
std::optional<OrthogonalArray> array_for(const DesignRequest& request, int max_runs) {
  const std::size_t levels = request.factors.front().level_names.size();
  const bool alike = std::ranges::all_of(
      request.factors, [&](const Factor& factor) { return factor.level_names.size() == levels; });
  const bool free = is_plain(request) && request.options.center_runs.value_or(0) == 0;
  if (!is_plan_of_words(request) || !alike || levels < 2 || !free) return std::nullopt;
  RandomStream random(request.seed, kLevelStream);
  return orthogonal_array(static_cast<int>(request.factors.size()), static_cast<int>(levels),
                          max_runs, random);
}

/// Adds the runs found by a search, without whole plots, to the centre runs.
SearchResult add_single_runs(ExchangeProblem problem, const DesignRequest& request, int runs,
                             const SearchSettings& settings, Design& design) {
  const int blocks = request.options.blocks;
  const auto fixed = static_cast<int>(design.points.size());
  if (runs <= fixed) {
    throw DesignError(
        fmt::format("{1} of {0} runs are at the centre, which leaves none to choose", runs, fixed));
  }
  problem.runs = runs - fixed;
  std::vector<int> groups;
  for (int i = 0; blocks > 1 && i < problem.runs; ++i) {
    problem.blocks.push_back(i % blocks);
    groups.push_back(i % blocks + 1);
  }
  const auto array = array_for(request, problem.runs);
  const auto found = search_designs(problem, settings, array ? array->levels : Eigen::MatrixXd());
  if (!found) throw nothing_found(problem.runs);
  append_points(*found, groups, &DesignPoint::block, problem.space.factor_count(), design);
  return *found;
}

/// The same in whole plots, for which the allocation leaves several choices.
SearchResult add_whole_plots(const ExchangeProblem& problem, const DesignRequest& request,
                             const std::vector<Allocation>& choices, const SearchSettings& settings,
                             Design& design) {
  SplitPlotProblem split_plot{problem, {}, {}, kVarianceRatio};
  for (const Factor& factor : request.factors) split_plot.hard.push_back(factor.hard_to_change);
  const auto found = split_plot_design(split_plot, choices, settings);
  if (!found) throw nothing_found(choices.front().runs);
  append_points(found->search, found->whole_plots, &DesignPoint::whole_plot,
                problem.space.factor_count(), design);
  return found->search;
}

/// An orthogonal array with all the runs has the same variances as the full factorial scaled to
/// that size: no search can improve on it by D or I.
std::optional<SearchResult> add_array(const CriterionWeights& weights, const DesignRequest& request,
                                      const ExchangeProblem& problem, int runs, Design& design) {
  if (weights.a > 0 || request.factors.size() < 2) return std::nullopt;
  const auto array = array_for(request, runs);
  if (!array || array->levels.rows() < runs) return std::nullopt;
  SearchResult found;
  found.design = array->levels;
  found.value = exact_value(problem, array->levels).value();
  found.starts = found.best_found = 1;
  append_points(found, {}, &DesignPoint::block, problem.space.factor_count(), design);
  design.notes.push_back(
      fmt::format("an orthogonal array ({}): all pairs of levels of any two factors occur equally "
                  "often, and no design with the same number of runs is better",
                  array->source));
  return found;
}

SearchResult find_runs(const CriterionWeights& weights, const DesignRequest& request,
                       const ExchangeProblem& problem, const std::vector<Allocation>& choices,
                       Design& design) {
  const SearchSettings settings{request.options.starts,
                                request.options.time_limit_s.value_or(kTimeLimit_s),
                                request.threads, request.seed};
  if (in_whole_plots(request)) {
    return add_whole_plots(problem, request, choices, settings, design);
  }
  const int runs = choices.front().runs;
  const auto array = add_array(weights, request, problem, runs, design);
  return array ? *array : add_single_runs(problem, request, runs, settings, design);
}

Design optimal_design(const CriterionWeights& weights, const DesignRequest& asked) {
  check_costs(asked);
  check_levels(asked);
  const DesignRequest request = one_replicate(asked);
  Design design;
  design.points = center_points(request);
  ExchangeProblem problem = problem_of(request, design.points);
  // Before anything slow, so that too few runs are rejected immediately.
  const std::vector<Allocation> choices =
      allocations(request.options, needs_of(request, problem.space.column_count()));
  check_size(choices.front().runs, problem.space.column_count());
  check_time_limit(choices.back().runs, problem.space.column_count(),
                   request.options.time_limit_s.value_or(kTimeLimit_s));
  set_criterion(weights, request, problem);
  const SearchResult found = find_runs(weights, request, problem, choices, design);
  const int runs = static_cast<int>(design.points.size());
  const double all_runs = runs + static_cast<double>(request.existing.rows());
  design.search = search_report(weights, request, problem, found, all_runs);
  const std::string both = both_criteria(weights, request, problem, found, all_runs);
  if (!both.empty()) design.notes.push_back(both);
  const int whole_plots = in_whole_plots(request) ? design.points.back().whole_plot : 0;
  const std::string cost = cost_note(request.options, {runs, whole_plots});
  if (!cost.empty()) design.notes.push_back(cost);
  return design;
}

/// The weights of the study file, normalised to sum 1.
CriterionWeights share_weights(const DesignOptions& options) {
  const CriterionWeights weights = options.weights.value_or(CriterionWeights{1, 1, 0});
  const double least = std::min({weights.d, weights.i, weights.a});
  const double sum = weights.d + weights.i + weights.a;
  if (!(least >= 0) || !(sum > 0) || !std::isfinite(sum)) {
    throw DesignError(
        "weights: expected numbers of at least 0, not all of them 0, as in {d: 1, i: 1}");
  }
  if (weights.i > 0 && weights.a > 0) {
    throw DesignError("weights: i and a cannot be combined; d can be combined with either");
  }
  return {weights.d / sum, weights.i / sum, weights.a / sum};
}

}  // namespace

Design d_optimal(const DesignRequest& request) { return optimal_design({1, 0, 0}, request); }
Design i_optimal(const DesignRequest& request) { return optimal_design({0, 1, 0}, request); }
Design a_optimal(const DesignRequest& request) { return optimal_design({0, 0, 1}, request); }

Design compound_optimal(const DesignRequest& request) {
  return optimal_design(share_weights(request.options), request);
}

}  // namespace doetune::doe
