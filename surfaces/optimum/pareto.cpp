#include "surfaces/optimum/pareto.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "doe/design.h"
#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/non_dominated.h"
#include "surfaces/optimum/responses_together.h"
#include "surfaces/optimum/score.h"
#include "surfaces/optimum/settings_search.h"
#include "surfaces/optimum/spread.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kMaxLookedAt = 1'000'000;
constexpr int kDraws = 2'000;

std::vector<const GoalResponse*> directions_of(const OptimumRequest& request, LimitsAre limits) {
  std::vector<const GoalResponse*> goals;
  for (const GoalResponse& response : request.responses) {
    if (!counts(response)) continue;
    if (limits == LimitsAre::kDirections || !response.goal->is_limit()) goals.push_back(&response);
  }
  return goals;
}

/// The rows that may be proposed: those that complete and, if limits are constraints, meet them.
std::vector<Eigen::Index> allowed_rows(const OptimumRequest& request, const Eigen::MatrixXd& coded,
                                       const Scorer& scorer, LimitsAre limits) {
  std::vector<Eigen::Index> rows = feasible_rows(request, coded);
  if (limits == LimitsAre::kDirections || rows.empty()) return rows;
  const std::vector<Score> scores = scorer.scores(coded);
  std::erase_if(rows,
                [&](Eigen::Index i) { return scores[static_cast<std::size_t>(i)].violation > 0; });
  return rows;
}

/// One row per goal, one column per point.
Eigen::MatrixXd costs_of(const std::vector<const GoalResponse*>& goals,
                         const std::vector<Eigen::VectorXd>& responses) {
  Eigen::MatrixXd costs(goals.size(), responses.front().size());
  for (std::size_t g = 0; g < goals.size(); ++g) {
    const Goal& goal = *goals[g]->goal;
    costs.row(static_cast<Eigen::Index>(g)) =
        responses[g].transpose().unaryExpr([&](double y) { return cost(goal, y); });
  }
  return costs;
}

struct Front {
  Eigen::MatrixXd natural;  ///< one point per row
  Eigen::MatrixXd costs;    ///< one point per column
};

Front searched_front(const OptimumRequest& request, const SettingsSearch& search,
                     const std::vector<const GoalResponse*>& goals, LimitsAre limits) {
  std::vector<const Surface*> surfaces;
  for (const GoalResponse* goal : goals) surfaces.push_back(goal->surface);
  const ResponsesTogether together(surfaces);
  const Scorer scorer(request);
  std::vector<Front> parts(search.block_count());
  search.for_each(request.threads, [&](std::size_t index, const Block& block) {
    const std::vector<Eigen::Index> rows = allowed_rows(request, block.coded, scorer, limits);
    if (rows.empty()) return;
    const Eigen::MatrixXd natural = block.natural(rows, Eigen::all);
    const Eigen::MatrixXd costs = costs_of(goals, together.at(block.coded(rows, Eigen::all)));
    const std::vector<Eigen::Index> kept = non_dominated(costs);
    parts[index] = {natural(kept, Eigen::all), costs(Eigen::all, kept)};
  });
  Eigen::Index points = 0;
  for (const Front& part : parts) points += part.natural.rows();
  Front all{Eigen::MatrixXd(points, request.factors.size()), Eigen::MatrixXd(goals.size(), points)};
  Eigen::Index at = 0;
  for (const Front& part : parts) {
    if (part.natural.rows() == 0) continue;  // nothing feasible there
    all.natural.middleRows(at, part.natural.rows()) = part.natural;
    all.costs.middleCols(at, part.natural.rows()) = part.costs;
    at += part.natural.rows();
  }
  if (points == 0) return all;
  const std::vector<Eigen::Index> kept = non_dominated(all.costs);
  return {all.natural(kept, Eigen::all), all.costs(Eigen::all, kept)};
}

/// Up to `most` points spread over the ranges of the costs, in the order of the first cost.
std::vector<Eigen::Index> thinned(const Eigen::MatrixXd& costs, std::size_t most) {
  const Eigen::MatrixXd scaled = (shares_of_ranges(costs).asDiagonal() * costs).transpose();
  std::vector<Eigen::Index> ends;
  for (Eigen::Index g = 0; g < costs.rows(); ++g) {
    Eigen::Index best = 0;
    costs.row(g).minCoeff(&best);
    if (std::find(ends.begin(), ends.end(), best) == ends.end()) ends.push_back(best);
  }
  std::vector<Eigen::Index> chosen = spread_rows(scaled, ends, most, 1e-9);
  std::sort(chosen.begin(), chosen.end(),
            [&](Eigen::Index a, Eigen::Index b) { return costs(0, a) < costs(0, b); });
  return chosen;
}

/// Without points as good as another in every goal, but for a little, and worse in one: means of
/// a process differ by as little where its runs do not.
std::vector<Eigen::Index> clearly_non_dominated(const Eigen::MatrixXd& costs,
                                                const std::vector<Eigen::Index>& chosen) {
  constexpr double kLittle = 1e-3;  // of the range
  const Eigen::MatrixXd listed = costs(Eigen::all, chosen);
  const Eigen::ArrayXd little =
      kLittle * (listed.rowwise().maxCoeff() - listed.rowwise().minCoeff()).array();
  const auto is_dominated = [&](Eigen::Index i) {
    for (Eigen::Index j = 0; j < listed.cols(); ++j) {
      const Eigen::ArrayXd gain = (listed.col(i) - listed.col(j)).array();
      if ((gain >= -little).all() && (gain > little).any()) return true;
    }
    return false;
  };
  std::vector<Eigen::Index> kept;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!is_dominated(static_cast<Eigen::Index>(i))) kept.push_back(chosen[i]);
  }
  return kept;
}

/// The fraction of draws of the means in which no other point dominates.
Eigen::VectorXd non_dominated_shares(const std::vector<const GoalResponse*>& goals,
                                     const Eigen::MatrixXd& coded) {
  std::vector<GoalResponse> responses;
  for (const GoalResponse* goal : goals) responses.push_back(*goal);
  const std::vector<Eigen::MatrixXd> drawn =
      MeanDraws(JointErrors(responses), coded).draw_responses(kDraws, 0);
  Eigen::VectorXd shares = Eigen::VectorXd::Zero(coded.rows());
  Eigen::MatrixXd costs(goals.size(), coded.rows());
  for (int draw = 0; draw < kDraws; ++draw) {
    for (std::size_t g = 0; g < goals.size(); ++g) {
      for (Eigen::Index i = 0; i < coded.rows(); ++i) {
        costs(static_cast<Eigen::Index>(g), i) = cost(*goals[g]->goal, drawn[g](i, draw));
      }
    }
    for (const Eigen::Index i : non_dominated(costs)) shares[i] += 1.0 / kDraws;
  }
  return shares;
}

}  // namespace

double cost(const Goal& goal, double y) {
  switch (goal.type) {
    case GoalType::kMaximize:
    case GoalType::kAtLeast:
      return -y;
    case GoalType::kMinimize:
    case GoalType::kAtMost:
      return y;
    case GoalType::kTarget:
      return std::abs(y - goal.target);
    case GoalType::kWithin:
      break;
  }
  return std::max({0.0, goal.low - y, y - goal.high});
}

ParetoFront pareto_front(const OptimumRequest& request, LimitsAre limits, std::size_t most) {
  const std::vector<const GoalResponse*> goals = directions_of(request, limits);
  if (goals.size() < 2) return {};
  const SettingsSearch search(request.factors, request.region, request.hold,
                              std::min(kMaxLookedAt, request.max_enumerated));
  const Front front = searched_front(request, search, goals, limits);
  if (front.natural.rows() == 0) return {};
  const std::vector<Eigen::Index> chosen =
      clearly_non_dominated(front.costs, thinned(front.costs, most));
  ParetoFront result{std::vector<ParetoPoint>(chosen.size()), search.is_exhaustive()};
  Eigen::MatrixXd coded(chosen.size(), request.factors.size());
  parallel_for(static_cast<int>(chosen.size()), request.threads, [&](int i) {
    const auto place = static_cast<std::size_t>(i);
    const Settings settings = Block{front.natural, {}}.settings(chosen[place]);
    coded.row(i) = doe::coded_point(request.factors, settings).transpose();
    result.points[place].candidate = assess(request, settings);
  });
  const Eigen::VectorXd shares = non_dominated_shares(goals, coded);
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    result.points[i].non_dominated_probability = shares[static_cast<Eigen::Index>(i)];
  }
  return result;
}

}  // namespace doetune::surfaces
