#include "surfaces/optimum/optima_of_draws.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "surfaces/models/posterior.h"
#include "surfaces/optimum/drawn_scores.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {
namespace {

// Many draws, few settings of each: the candidates must span where the optima lie.
constexpr int kPilotDraws = 125;
constexpr std::size_t kKeptOfPilot = 4;  // per draw
constexpr std::size_t kMaxCandidates = 500;
constexpr std::uint64_t kPilotStream = 1'000'000;

/// Points that determine a quadratic of the given factors: the centre, a step up and a step down in
/// each factor, and a step up in each pair.
Eigen::MatrixXd interpolation_points(const Eigen::VectorXd& centre,
                                     const std::vector<Eigen::Index>& factors) {
  std::vector<Eigen::VectorXd> points{centre};
  for (const Eigen::Index f : factors) {
    for (const double step : {1.0, -1.0}) {
      points.push_back(centre);
      points.back()[f] += step;
    }
  }
  for (std::size_t i = 0; i < factors.size(); ++i) {
    for (std::size_t j = i + 1; j < factors.size(); ++j) {
      points.push_back(centre);
      points.back()[factors[i]] += 1;
      points.back()[factors[j]] += 1;
    }
  }
  Eigen::MatrixXd rows(points.size(), centre.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)) = points[i].transpose();
  }
  return rows;
}

/// The quadratic with these values at interpolation_points.
QuadraticForm interpolated(const Eigen::Ref<const Eigen::VectorXd>& values, Eigen::Index k,
                           const std::vector<Eigen::Index>& factors) {
  QuadraticForm q{values[0], Eigen::VectorXd::Zero(k), Eigen::MatrixXd::Zero(k, k)};
  const auto count = static_cast<Eigen::Index>(factors.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const double up = values[1 + 2 * i] - values[0], down = values[2 + 2 * i] - values[0];
    q.linear[factors[i]] = (up - down) / 2;
    q.second(factors[i], factors[i]) = (up + down) / 2;
  }
  Eigen::Index at = 1 + 2 * count;
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = i + 1; j < count; ++j, ++at) {
      const double alone = values[1 + 2 * i] + values[1 + 2 * j] - values[0];
      q.second(factors[i], factors[j]) = q.second(factors[j], factors[i]) =
          (values[at] - alone) / 2;
    }
  }
  return q;
}

/// Calls body(first, count, stream) for every part of the draws.
void for_each_part(int draws, int threads, const std::function<void(int, int, int)>& body) {
  const int parts = (draws + kDrawsAtATime - 1) / kDrawsAtATime;
  parallel_for(parts, threads, [&](int part) {
    const int first = part * kDrawsAtATime;
    body(first, std::min(kDrawsAtATime, draws - first), part);
  });
}

/// Draws of the means of one response: of its posterior, else about its surface.
class DrawnMeans {
 public:
  DrawnMeans(const GoalResponse& response, const Eigen::MatrixXd& coded, int draws) {
    if (response.posterior) {
      of_posterior_ = response.posterior->means(coded).topRows(draws).transpose();
    } else {
      of_surface_.emplace(JointErrors({response}), coded);
    }
  }

  /// m x count.
  Eigen::MatrixXd part(int first, int count, int stream) const {
    if (of_surface_) return of_surface_->draw(count, static_cast<std::uint64_t>(stream)).front();
    return of_posterior_.middleCols(first, count);
  }

 private:
  std::optional<MeanDraws> of_surface_;
  Eigen::MatrixXd of_posterior_;
};

Eigen::MatrixXd stacked(const Eigen::MatrixXd& top, const Eigen::MatrixXd& bottom) {
  Eigen::MatrixXd both(top.rows() + bottom.rows(), top.cols());
  both << top, bottom;
  return both;
}

/// Usable settings that are feasible in some draw; without any, all. At most max_drawn, or a grid
/// of that many and random ones besides.
Eigen::MatrixXd pilot_points(const OptimumRequest& request) {
  const SettingsSearch search(request.factors, request.region, request.hold, request.max_drawn,
                              request.max_drawn);
  const Eigen::MatrixXd coded = search.all_points().coded;
  if (!request.drawn_feasibility) return coded;
  const Eigen::VectorXd highest = request.drawn_feasibility(coded).rowwise().maxCoeff();
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    if (highest[i] >= request.min_feasibility) rows.push_back(i);
  }
  return rows.empty() ? coded : coded(rows, Eigen::all);
}

struct PilotPoint {
  Eigen::Index row = 0;  ///< of all pilot points
  Score score;
};

/// Of each pilot draw, its best points.
using BestOfDraws = std::vector<std::vector<PilotPoint>>;

/// Those of the best scores, in the order of the rows where scores are equal.
std::vector<PilotPoint> best_of(std::vector<PilotPoint> points) {
  const auto kept = points.begin() + static_cast<long>(std::min(kKeptOfPilot, points.size()));
  std::partial_sort(points.begin(), kept, points.end(),
                    [](const PilotPoint& a, const PilotPoint& b) {
                      if (better(a.score, b.score) || better(b.score, a.score))
                        return better(a.score, b.score);
                      return a.row < b.row;
                    });
  points.erase(kept, points.end());
  return points;
}

/// Of each pilot draw, the best of some points, which are drawn jointly.
BestOfDraws best_of_rows(const OptimumRequest& request, const Eigen::MatrixXd& coded,
                         const std::vector<Eigen::Index>& rows, std::uint64_t stream) {
  const DrawnScores drawn(request, coded(rows, Eigen::all));
  const DrawnTruths truths = drawn.draw(0, kPilotDraws, stream);
  BestOfDraws best;
  for (int draw = 0; draw < kPilotDraws; ++draw) {
    const std::vector<Score> scores = drawn.scores(truths, draw);
    std::vector<PilotPoint> points;
    for (std::size_t i = 0; i < rows.size(); ++i) points.push_back({rows[i], scores[i]});
    best.push_back(best_of(std::move(points)));
  }
  return best;
}

/// Of each pilot draw, the best of all points. The time of a joint draw grows with the cube of the
/// number of points, so each part of up to max_drawn points is drawn by itself, from all over the
/// region: enough to see where optima lie.
BestOfDraws best_of_pilot(const OptimumRequest& request, const Eigen::MatrixXd& coded) {
  const auto joint = static_cast<Eigen::Index>(request.max_drawn);
  const Eigen::Index parts = std::max<Eigen::Index>(1, (coded.rows() + joint - 1) / joint);
  std::vector<BestOfDraws> of_parts(static_cast<std::size_t>(parts));
  parallel_for(static_cast<int>(parts), request.threads, [&](int part) {
    std::vector<Eigen::Index> rows;
    for (Eigen::Index i = part; i < coded.rows(); i += parts) rows.push_back(i);
    of_parts[static_cast<std::size_t>(part)] =
        best_of_rows(request, coded, rows, kPilotStream + static_cast<std::uint64_t>(part));
  });
  BestOfDraws best(kPilotDraws);
  for (std::size_t draw = 0; draw < best.size(); ++draw) {
    for (const auto& part : of_parts)
      best[draw].insert(best[draw].end(), part[draw].begin(), part[draw].end());
    best[draw] = best_of(std::move(best[draw]));
  }
  return best;
}

/// The pilot points that are among the best of some draw, most frequent first.
Eigen::MatrixXd candidates(const OptimumRequest& request) {
  const Eigen::MatrixXd coded = pilot_points(request);
  std::vector<int> counts(static_cast<std::size_t>(coded.rows()), 0);
  for (const std::vector<PilotPoint>& best : best_of_pilot(request, coded)) {
    for (const PilotPoint& point : best) ++counts[static_cast<std::size_t>(point.row)];
  }
  std::vector<Eigen::Index> order(counts.size());
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  std::erase_if(order, [&](Eigen::Index i) { return counts[i] == 0; });
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index a, Eigen::Index b) { return counts[a] > counts[b]; });
  order.resize(std::min(order.size(), kMaxCandidates));
  return coded(order, Eigen::all);
}

/// The best of the first `count` scores.
Eigen::Index best_index(const std::vector<Score>& scores, Eigen::Index count) {
  const auto best = std::min_element(scores.begin(), scores.begin() + count, better);
  return best - scores.begin();
}

}  // namespace

OptimaOfDraws::OptimaOfDraws(int draws, Eigen::Index factors)
    : coded(draws, factors),
      desirability_loss(draws),
      response_loss(draws),
      best_listed(static_cast<std::size_t>(draws)) {}

OptimaOfDraws exact_optima(const OptimumRequest& request, const QuadraticGoal& goal,
                           const Eigen::MatrixXd& listed, int draws) {
  std::vector<Eigen::Index> numeric;
  for (std::size_t f = 0; f < request.factors.size(); ++f) {
    if (!request.factors[f].is_categorical()) numeric.push_back(static_cast<Eigen::Index>(f));
  }
  Eigen::MatrixXd points = listed;
  Eigen::Index each = 0;
  for (const Eigen::VectorXd& level : goal.levels()) {
    const Eigen::MatrixXd more = interpolation_points(level, numeric);
    each = more.rows();
    points = stacked(points, more);
  }
  const DrawnMeans means(goal.response(), points, draws);
  const Transform transform = goal.response().surface->predict(listed.row(0)).transform;
  const auto response = [&](double z) { return back_transformed(transform, z); };
  const auto desirability = [&](double z) {
    return goal.response().goal->desirability(response(z));
  };
  OptimaOfDraws optima(draws, listed.cols());
  for_each_part(draws, request.threads, [&](int first, int count, int stream) {
    const Eigen::MatrixXd drawn = means.part(first, count, stream);
    for (int d = 0; d < count; ++d) {
      const BoxOptimum best = goal.best([&](std::size_t i) {
        const Eigen::Index from = listed.rows() + static_cast<Eigen::Index>(i) * each;
        return interpolated(drawn.col(d).segment(from, each), listed.cols(), numeric);
      });
      const double top = goal.sign() * best.value, chosen = drawn(0, d);
      optima.coded.row(first + d) = best.at.transpose();
      optima.desirability_loss[first + d] = std::max(0.0, desirability(top) - desirability(chosen));
      optima.response_loss[first + d] = std::abs(response(top) - response(chosen));
      (goal.sign() * drawn.col(d).head(listed.rows()))
          .maxCoeff(&optima.best_listed[static_cast<std::size_t>(first + d)]);
    }
  });
  return optima;
}

OptimaOfDraws optima_among_settings(const OptimumRequest& request, const Eigen::MatrixXd& listed,
                                    int draws) {
  const Eigen::MatrixXd points = stacked(listed, candidates(request));
  const DrawnScores drawn(request, points);
  OptimaOfDraws optima(draws, listed.cols());
  for_each_part(draws, request.threads, [&](int first, int count, int stream) {
    const DrawnTruths truths = drawn.draw(first, count, static_cast<std::uint64_t>(stream));
    for (int d = 0; d < count; ++d) {
      const std::vector<Score> all = drawn.scores(truths, d);
      const Eigen::Index best = best_index(all, points.rows());
      optima.coded.row(first + d) = points.row(best);
      const double loss = all[best].desirability - all.front().desirability;
      const Eigen::MatrixXd& response = truths.responses[0];
      optima.desirability_loss[first + d] = std::max(0.0, loss);
      // Nothing is lost to settings that are better and cannot run.
      optima.response_loss[first + d] = loss > 0 ? std::abs(response(best, d) - response(0, d)) : 0;
      optima.best_listed[static_cast<std::size_t>(first + d)] = best_index(all, listed.rows());
    }
  });
  return optima;
}

}  // namespace doetune::surfaces
