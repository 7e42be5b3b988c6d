#include "surfaces/optimum/optima_of_draws.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "surfaces/models/posterior.h"
#include "surfaces/optimum/joint_errors.h"
#include "surfaces/optimum/score.h"

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

/// The values of all responses in one draw.
std::vector<Eigen::VectorXd> of_draw(const std::vector<Eigen::MatrixXd>& drawn, int draw) {
  std::vector<Eigen::VectorXd> values;
  for (const Eigen::MatrixXd& response : drawn) values.push_back(response.col(draw));
  return values;
}

/// The points that meet every limit with the confidence wanted; without any, all points.
Eigen::MatrixXd sure_points(const OptimumRequest& request, const Eigen::MatrixXd& coded) {
  const std::vector<Score> scores = Scorer(request).scores(coded);
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i].violation == 0 && scores[i].doubt == 0) rows.push_back(static_cast<long>(i));
  }
  return rows.empty() ? coded : coded(rows, Eigen::all);
}

/// At most max_drawn usable settings that are feasible.
Eigen::MatrixXd pilot_points(const OptimumRequest& request) {
  const SettingsSearch search(request.factors, request.region, request.hold, request.max_drawn,
                              request.max_drawn);
  const Eigen::MatrixXd coded = search.all_points().coded;
  const Eigen::MatrixXd feasible = coded(feasible_rows(request, coded), Eigen::all);
  const bool asks = std::any_of(
      request.responses.begin(), request.responses.end(), [](const GoalResponse& response) {
        return counts(response) && response.goal->is_limit() && response.goal->confidence > 0;
      });
  return asks ? sure_points(request, feasible) : feasible;
}

/// The pilot points that are among the best of some draw, most frequent first.
Eigen::MatrixXd candidates(const OptimumRequest& request) {
  const Eigen::MatrixXd coded = pilot_points(request);
  const MeanDraws means(JointErrors(request.responses), coded);
  const std::vector<Eigen::MatrixXd> drawn = means.draw_responses(kPilotDraws, kPilotStream);
  std::vector<int> counts(static_cast<std::size_t>(coded.rows()), 0);
  std::vector<Eigen::Index> order(counts.size());
  for (int draw = 0; draw < kPilotDraws; ++draw) {
    const std::vector<Score> all = scores_of(request, of_draw(drawn, draw), coded.rows());
    std::iota(order.begin(), order.end(), Eigen::Index{0});
    const auto kept = order.begin() + static_cast<long>(std::min(kKeptOfPilot, order.size()));
    std::partial_sort(order.begin(), kept, order.end(), [&](Eigen::Index a, Eigen::Index b) {
      if (better(all[a], all[b]) || better(all[b], all[a])) return better(all[a], all[b]);
      return a < b;
    });
    std::for_each(order.begin(), kept, [&](Eigen::Index i) { ++counts[i]; });
  }
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
  const MeanDraws means(JointErrors(request.responses), points);
  OptimaOfDraws optima(draws, listed.cols());
  for_each_part(draws, request.threads, [&](int first, int count, int stream) {
    const std::vector<Eigen::MatrixXd> drawn =
        means.draw_responses(count, static_cast<std::uint64_t>(stream));
    for (int d = 0; d < count; ++d) {
      const std::vector<Score> all = scores_of(request, of_draw(drawn, d), points.rows());
      const Eigen::Index best = best_index(all, points.rows());
      optima.coded.row(first + d) = points.row(best);
      optima.desirability_loss[first + d] =
          std::max(0.0, all[best].desirability - all.front().desirability);
      optima.response_loss[first + d] = std::abs(drawn[0](best, d) - drawn[0](0, d));
      optima.best_listed[static_cast<std::size_t>(first + d)] = best_index(all, listed.rows());
    }
  });
  return optima;
}

}  // namespace doetune::surfaces
