// G-optimal designs, which minimise the maximum prediction variance over the region.
//
// Smith (1918), Biometrika 12, 1-85; Kiefer & Wolfowitz (1960), Canadian Journal of Mathematics 12,
// 363-366: max d >= p / n for every design, so the G-efficiency 100 p / (n max d) is at most 100.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "doe/combinations.h"
#include "doe/design.h"
#include "doe/evaluation/max_variance.h"
#include "doe/optimal/budget.h"
#include "doe/optimal/minimax_search.h"

namespace doetune::doe {
namespace {

constexpr int kMaxNumbers = 3000;  ///< runs times factors: the size of the linear system of a step
constexpr double kProofFraction = 0.1;  ///< fraction of the time limit
constexpr double kProofGap = 1e-6;

int runs_to_choose(const DesignRequest& request) {
  const int columns = request.model.column_count();
  const int fixed = request.options.center_runs.value_or(0);
  const int existing = static_cast<int>(request.existing.rows());
  const int runs = request.options.runs.value_or(std::max(columns + kSpareRuns - existing, 1));
  if (runs + existing < columns) {
    throw DesignError(fmt::format(
        "{} runs cannot determine {} coefficients; ask for {} runs or more, or a smaller model",
        runs + existing, columns, columns - existing));
  }
  if (static_cast<double>(runs) * static_cast<double>(request.factors.size()) > kMaxNumbers) {
    throw DesignError(fmt::format(
        "g-optimal varies at most {} settings at once, but {} runs have {}; i-optimal takes more",
        kMaxNumbers, runs,
        static_cast<double>(runs) * static_cast<double>(request.factors.size())));
  }
  if (runs <= fixed) {
    throw DesignError(
        fmt::format("{1} of {0} runs are at the centre, which leaves none to choose", runs, fixed));
  }
  return runs - fixed;
}

Eigen::MatrixXd information(const Model& model, const Eigen::MatrixXd& coded) {
  if (coded.rows() == 0) return Eigen::MatrixXd::Zero(model.column_count(), model.column_count());
  const Eigen::MatrixXd x = model.matrix(coded);
  return x.transpose() * x;
}

std::vector<DesignPoint> points_of(const Eigen::MatrixXd& rows) {
  std::vector<DesignPoint> points;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    points.push_back({rows.row(i).transpose(), PointType::kOptimal});
  }
  std::ranges::stable_sort(points, [](const DesignPoint& a, const DesignPoint& b) {
    return std::ranges::lexicographical_compare(a.coded, b.coded);
  });
  return points;
}

SearchResult found_for(const DesignRequest& request, const Eigen::MatrixXd& base) {
  const MinimaxProblem problem{PeakFinder(SearchSpace(request)), runs_to_choose(request), base};
  const SearchSettings settings{
      request.options.starts,
      (1 - kProofFraction) * request.options.time_limit_s.value_or(kTimeLimit_s), request.threads,
      request.seed};
  const auto found = search_minimax(problem, settings);
  if (!found) throw nothing_found(problem.runs);
  return *found;
}

/// Reports the efficiency of the final runs, from the proven maximum of the variance if there is
/// one.
void report(const DesignRequest& request, const SearchResult& found, const Eigen::MatrixXd& base,
            Design& design) {
  const int p = request.model.column_count();
  const Eigen::MatrixXd m = information(request.model, design.coded()) + base;
  const double time_s = kProofFraction * request.options.time_limit_s.value_or(kTimeLimit_s);
  const MaxVariance largest =
      max_variance(request.model, request.region, m.llt().solve(Eigen::MatrixXd::Identity(p, p)),
                   kProofGap, time_s);
  const double runs =
      static_cast<double>(design.points.size()) + static_cast<double>(request.existing.rows());
  design.search =
      SearchReport{"G-efficiency, percent",
                   100 * p / (runs * (largest.proven ? largest.upper_bound : largest.value)),
                   std::nullopt,
                   found.starts,
                   found.best_found,
                   found.seconds,
                   found.stopped_by_time};
  if (request.existing.rows() == 0) design.search->bound = 100;
  if (largest.proven) return;
  design.notes.push_back(
      fmt::format("the G-efficiency is computed from the largest prediction variance found; {:.2f} "
                  "percent are proven",
                  100 * p / (runs * largest.upper_bound)));
}

}  // namespace

Design g_optimal(const DesignRequest& asked) {
  if (asked.model.column_count() == 0) throw DesignError("the model has no terms");
  check_levels(asked);
  const DesignRequest request = one_replicate(asked);
  Design design;
  design.points = center_points(request);
  const Eigen::MatrixXd existing = information(request.model, request.existing);
  const Eigen::MatrixXd base = existing + information(request.model, design.coded());
  const SearchResult found = found_for(request, base);
  const std::vector<DesignPoint> points = points_of(found.design);
  design.points.insert(design.points.begin(), points.begin(), points.end());
  report(request, found, existing, design);
  return design;
}

}  // namespace doetune::doe
