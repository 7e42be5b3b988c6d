#include "surfaces/optimum/equivalents.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/optimum/score.h"
#include "surfaces/optimum/settings_search.h"
#include "surfaces/optimum/spread.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kMaxEquivalentCandidates = 200'000;
constexpr std::size_t kMaxEquivalents = 5;

/// How much worse, by the goal, z is at a point than at the best, on the scale of the fit.
double disadvantage(const Goal& goal, const Prediction& at, const Prediction& best) {
  const double rise = at.transform == Transform::kInverse ? -1 : 1;
  if (goal.type == GoalType::kMaximize) return rise * (best.mean - at.mean);
  if (goal.type == GoalType::kMinimize) return rise * (at.mean - best.mean);
  const bool is_worse =
      std::abs(at.response() - goal.target) > std::abs(best.response() - goal.target);
  return is_worse ? std::abs(at.mean - best.mean) : 0;
}

class Equivalence {
 public:
  Equivalence(const OptimumRequest& request, const Candidate& best)
      : request_(request),
        scorer_(request),
        best_(doe::coded_point(request.factors, best.settings)) {
    score_ = scorer_.scores(best_.transpose()).front();
    for (const GoalResponse& response : request.responses) {
      if (!counts(response) || response.goal->is_limit()) continue;
      if (response.surface->predict(best_).df > 0) ramps_.push_back(&response);
    }
  }

  bool is_possible() const { return !ramps_.empty(); }

  std::vector<Eigen::Index> same(const Eigen::MatrixXd& coded) const {
    const std::vector<Score> all = scorer_.scores(coded);
    std::vector<Eigen::Index> rows;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].violation <= score_.violation && all[i].doubt <= score_.doubt)
        rows.push_back(static_cast<Eigen::Index>(i));
    }
    for (const GoalResponse* ramp : ramps_) {
      if (!rows.empty()) rows = no_worse(*ramp, coded, rows);
    }
    return rows;
  }

 private:
  /// The rows whose disadvantage is not significant. The error of a difference is at most the sum
  /// of both errors, which already decides most points.
  std::vector<Eigen::Index> no_worse(const GoalResponse& ramp, const Eigen::MatrixXd& coded,
                                     const std::vector<Eigen::Index>& rows) const {
    const Prediction at_best = ramp.surface->predict(best_);
    const std::vector<Prediction> predictions = ramp.surface->predictions(coded(rows, Eigen::all));
    const double level = 1 - (1 - request_.confidence) / static_cast<double>(ramps_.size());
    const double t = t_quantile(level, at_best.df);
    std::vector<double> worse;
    std::vector<Eigen::Index> close;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Prediction& here = predictions[i];
      const double by = disadvantage(*ramp.goal, here, at_best);
      const double most = (1 + 1e-9) * (here.standard_error + at_best.standard_error);
      if (!(by <= t * most)) continue;
      close.push_back(rows[i]);
      worse.push_back(by);
    }
    if (close.empty()) return close;
    // The best point is the first row: only errors of one call have common columns.
    Eigen::MatrixXd points(close.size() + 1, coded.cols());
    points << best_.transpose(), coded(close, Eigen::all);
    const MeanErrors errors = ramp.surface->mean_errors(points);
    std::vector<Eigen::Index> kept;
    for (std::size_t i = 0; i < close.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i) + 1;
      const double error = std::hypot((errors.of_runs.row(row) - errors.of_runs.row(0)).norm(),
                                      (errors.own.row(row) - errors.own.row(0)).norm());
      if (worse[i] <= 0 || worse[i] <= t * error) kept.push_back(close[i]);
    }
    return kept;
  }

  const OptimumRequest& request_;
  Scorer scorer_;
  Eigen::VectorXd best_;
  Score score_;  ///< of the best
  std::vector<const GoalResponse*> ramps_;
};

/// Coordinates in which distinct settings differ by at least 1 in some coordinate.
Eigen::MatrixXd coordinates(const std::vector<doe::Factor>& factors, Eigen::MatrixXd coded) {
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) coded.col(static_cast<Eigen::Index>(f)) /= 0.5;
  }
  return coded;
}

}  // namespace

std::vector<Equivalent> equivalents(const OptimumRequest& request, const Candidate& best) {
  const Equivalence equivalence(request, best);
  if (!equivalence.is_possible()) return {};
  const SettingsSearch search(request.factors, request.region, request.hold,
                              std::min(kMaxEquivalentCandidates, request.max_enumerated),
                              std::min(kMaxEquivalentCandidates, request.max_enumerated));
  std::vector<Block> found(search.block_count());
  search.for_each(request.threads, [&](std::size_t index, const Block& block) {
    const std::vector<Eigen::Index> rows = equivalence.same(block.coded);
    found[index] = {block.natural(rows, Eigen::all), block.coded(rows, Eigen::all)};
  });
  Eigen::Index points = 1;
  for (const Block& block : found) points += block.size();
  const auto factors = static_cast<Eigen::Index>(request.factors.size());
  Block all{Eigen::MatrixXd(points, factors), Eigen::MatrixXd(points, factors)};
  all.natural.row(0) = Eigen::Map<const Eigen::RowVectorXd>(best.settings.data(), factors);
  all.coded.row(0) = doe::coded_point(request.factors, best.settings).transpose();
  Eigen::Index row = 1;
  for (const Block& block : found) {
    all.natural.middleRows(row, block.size()) = block.natural;
    all.coded.middleRows(row, block.size()) = block.coded;
    row += block.size();
  }
  std::vector<Equivalent> equivalents;
  for (const Eigen::Index chosen :
       spread_rows(coordinates(request.factors, all.coded), {0}, 1 + kMaxEquivalents, 1)) {
    if (chosen == 0) continue;
    const Settings settings = all.settings(chosen);
    equivalents.push_back({assess(request, settings), gains(request, settings, best.settings)});
  }
  std::stable_sort(equivalents.begin(), equivalents.end(),
                   [](const Equivalent& a, const Equivalent& b) {
                     return std::pair(-a.candidate.violation, a.candidate.desirability) >
                            std::pair(-b.candidate.violation, b.candidate.desirability);
                   });
  return equivalents;
}

}  // namespace doetune::surfaces
