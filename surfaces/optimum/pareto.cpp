#include "surfaces/optimum/pareto.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>

#include "doe/design.h"
#include "surfaces/optimum/empty_region.h"
#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/responses_together.h"
#include "surfaces/optimum/score.h"
#include "surfaces/optimum/settings_search.h"
#include "surfaces/optimum/spread.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kMostLookedAt = 1'000'000;
constexpr int kDraws = 2'000;

std::vector<const GoalResponse*> goals_of(const OptimumRequest& request) {
  std::vector<const GoalResponse*> goals;
  for (const GoalResponse& response : request.responses) {
    if (counts(response)) goals.push_back(&response);
  }
  return goals;
}

/// One row a goal, one column a point.
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

using Columns = std::vector<Eigen::Index>;

Columns in_order(const Eigen::Ref<const Eigen::RowVectorXd>& values) {
  Columns order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return values[a] < values[b]; });
  return order;
}

/// Adds to `front` those of the columns first .. last - 1 that no column before them equals or
/// undercuts in every row. Sets of columns are bits: of each column, those that cost no more in the
/// rows so far. `orders` has of each row its columns in the order of costs.
void add_unbeaten(const Eigen::MatrixXd& costs, const std::vector<Columns>& orders,
                  Eigen::Index first, Eigen::Index last, Columns& front) {
  using Bits = std::vector<std::uint64_t>;
  const auto words = static_cast<std::size_t>(last / 64 + 1);
  std::vector<Bits> rivals(static_cast<std::size_t>(last - first), Bits(words, ~std::uint64_t{0}));
  for (std::size_t row = 0; row < orders.size(); ++row) {
    const auto values = costs.row(static_cast<Eigen::Index>(row));
    Bits cheaper(words, 0);
    auto next = orders[row].begin();
    for (const Eigen::Index column : orders[row]) {
      if (column < first || column >= last) continue;
      for (; next != orders[row].end() && values[*next] <= values[column]; ++next) {
        if (*next < last) cheaper[static_cast<std::size_t>(*next / 64)] |= 1ULL << (*next % 64);
      }
      Bits& own = rivals[static_cast<std::size_t>(column - first)];
      std::transform(own.begin(), own.end(), cheaper.begin(), own.begin(), std::bit_and<>());
    }
  }
  for (Eigen::Index column = first; column < last; ++column) {
    Bits& own = rivals[static_cast<std::size_t>(column - first)];
    own.resize(static_cast<std::size_t>(column / 64 + 1));
    own.back() &= (1ULL << (column % 64)) - 1;  // those before it
    if (std::count(own.begin(), own.end(), 0) == static_cast<long>(own.size())) {
      front.push_back(column);
    }
  }
}

/// The columns that no other dominates, one of equals. In the order of sums no column dominates an
/// earlier one.
Columns non_dominated(const Eigen::MatrixXd& costs) {
  constexpr Eigen::Index kAtATime = 1024;
  const Eigen::VectorXd scale =
      (costs.rowwise().maxCoeff() - costs.rowwise().minCoeff()).cwiseMax(1e-300).cwiseInverse();
  const Columns order = in_order(scale.transpose() * costs);
  const Eigen::MatrixXd sorted = costs(Eigen::all, order);
  std::vector<Columns> orders;
  for (Eigen::Index row = 0; row < costs.rows(); ++row) orders.push_back(in_order(sorted.row(row)));
  Columns front;
  for (Eigen::Index first = 0; first < costs.cols(); first += kAtATime) {
    add_unbeaten(sorted, orders, first, std::min(first + kAtATime, costs.cols()), front);
  }
  for (Eigen::Index& column : front) column = order[static_cast<std::size_t>(column)];
  return front;
}

struct Front {
  Eigen::MatrixXd natural;  ///< a point a row
  Eigen::MatrixXd costs;    ///< a point a column
};

Front searched_front(const OptimumRequest& request, const SettingsSearch& search,
                     const std::vector<const GoalResponse*>& goals) {
  std::vector<const Surface*> surfaces;
  for (const GoalResponse* goal : goals) surfaces.push_back(goal->surface);
  const ResponsesTogether together(surfaces);
  std::vector<Front> parts(search.block_count());
  search.for_each(request.threads, [&](std::size_t index, const Block& block) {
    if (block.size() == 0) return;
    const Eigen::MatrixXd costs = costs_of(goals, together.at(block.coded));
    const std::vector<Eigen::Index> kept = non_dominated(costs);
    parts[index] = {block.natural(kept, Eigen::all), costs(Eigen::all, kept)};
  });
  Eigen::Index points = 0;
  for (const Front& part : parts) points += part.natural.rows();
  if (points == 0) refuse_empty_region(request, search);
  Front all{Eigen::MatrixXd(points, request.factors.size()), Eigen::MatrixXd(goals.size(), points)};
  Eigen::Index at = 0;
  for (const Front& part : parts) {
    all.natural.middleRows(at, part.natural.rows()) = part.natural;
    all.costs.middleCols(at, part.natural.rows()) = part.costs;
    at += part.natural.rows();
  }
  const std::vector<Eigen::Index> kept = non_dominated(all.costs);
  return {all.natural(kept, Eigen::all), all.costs(Eigen::all, kept)};
}

/// Up to `most` points spread over the ranges of the costs, in the order of the first.
std::vector<Eigen::Index> thinned(const Eigen::MatrixXd& costs, std::size_t most) {
  const Eigen::VectorXd range =
      (costs.rowwise().maxCoeff() - costs.rowwise().minCoeff()).cwiseMax(1e-300);
  const Eigen::MatrixXd scaled = (range.cwiseInverse().asDiagonal() * costs).transpose();
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

/// The share of draws of the means in which no other point dominates.
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

ParetoFront pareto_front(const OptimumRequest& request, std::size_t most) {
  const std::vector<const GoalResponse*> goals = goals_of(request);
  if (goals.size() < 2) return {};
  const SettingsSearch search(request.factors, request.region, request.hold,
                              std::min(kMostLookedAt, request.most_enumerated));
  const Front front = searched_front(request, search, goals);
  const std::vector<Eigen::Index> chosen = thinned(front.costs, most);
  ParetoFront result{{}, search.is_exhaustive()};
  Eigen::MatrixXd coded(chosen.size(), request.factors.size());
  for (const Eigen::Index point : chosen) {
    const Settings settings = Block{front.natural, {}}.settings(point);
    coded.row(static_cast<Eigen::Index>(result.points.size())) =
        doe::coded_point(request.factors, settings).transpose();
    result.points.push_back({assess(request, settings), 1});
  }
  const Eigen::VectorXd shares = non_dominated_shares(goals, coded);
  for (std::size_t i = 0; i < result.points.size(); ++i) {
    result.points[i].non_dominated_probability = shares[static_cast<Eigen::Index>(i)];
  }
  return result;
}

}  // namespace doetune::surfaces
