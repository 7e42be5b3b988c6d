#include "tuning/proposal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/optimum/settings_search.h"
#include "tuning/surrogate_models.h"
#include "tuning/utility.h"

namespace doetune::tuning {
namespace {

constexpr std::size_t kMaxCandidates = 10'000;
constexpr Eigen::Index kFinalists = 400;  ///< of the candidates, for which parameters are drawn

/// Below this gain the predictive standard deviations are inflated, to force exploration.
constexpr double kSmallGain = 0.01, kInflation = 3;

/// Standard normal quantiles in the middle of equal parts.
std::vector<double> normal_points(int count) {
  std::vector<double> points;
  for (int i = 0; i < count; ++i) {
    points.push_back(surfaces::normal_value((i + 0.5) / count));
  }
  return points;
}

/// The probability that the means of all limits lie within them.
Eigen::VectorXd limits_met(const Problem& problem, const SurrogateModels& models,
                           const Eigen::MatrixXd& coded, Draws draws) {
  Eigen::VectorXd met = Eigen::VectorXd::Ones(coded.rows());
  for (std::size_t o = 0; o < problem.objectives.size(); ++o) {
    const Objective& objective = problem.objectives[o];
    if (!objective.goal.is_limit()) continue;
    const auto [low, high] = surfaces::transformed_range(
        objective.transform, objective.goal.met_low(), objective.goal.met_high());
    const Means means = models.means(o, coded, draws);
    for (Eigen::Index i = 0; i < coded.rows(); ++i) {
      double sum = 0;
      for (Eigen::Index draw = 0; draw < means.mean.cols(); ++draw) {
        double deviation = means.deviation(i, draw);
        deviation = std::max(deviation, 1e-12 * (1 + std::abs(means.mean(i, draw))));
        const auto below = [&](double end) {
          return surfaces::normal_probability((end - means.mean(i, draw)) / deviation);
        };
        sum += std::max(0.0, below(high) - below(low));
      }
      met[i] *= sum / static_cast<double>(means.mean.cols());
    }
  }
  return met;
}

/// The utility at each point (row) in each draw of the parameters (column), if the means lie
/// `normal` times what a run would change them by away from their expectation. Other goals take
/// other normal numbers, so that their errors are independent.
class Utilities {
 public:
  Utilities(const Problem& problem, const SurrogateModels& models, const Utility& utility,
            const Eigen::MatrixXd& coded, Draws draws)
      : problem_(problem), utility_(utility), responses_(utility.goals().size()) {
    for (const std::size_t o : utility.goals()) means_.push_back(models.means(o, coded, draws));
  }

  Eigen::Index points() const { return means_.front().mean.rows(); }
  Eigen::Index draws() const { return means_.front().mean.cols(); }

  double expected(Eigen::Index i, Eigen::Index draw) {
    for (std::size_t g = 0; g < means_.size(); ++g) {
      responses_[g] = response(g, means_[g].mean(i, draw));
    }
    return utility_.of(responses_);
  }

  /// The expectation of how far the utility lies above `best`, at each point, with predictive
  /// standard deviations `inflation` times those of the models.
  Eigen::VectorXd improvement(const Eigen::RowVectorXd& best, double inflation) {
    static const std::vector<double> kNormals = normal_points(16);
    const auto count = kNormals.size();
    Eigen::VectorXd above = Eigen::VectorXd::Zero(points());
    for (Eigen::Index i = 0; i < points(); ++i) {
      for (Eigen::Index draw = 0; draw < draws(); ++draw) {
        for (std::size_t point = 0; point < count; ++point) {
          for (std::size_t g = 0; g < means_.size(); ++g) {
            const std::size_t other = (point * (1 + 2 * g) + 5 * g * std::size_t(draw)) % count;
            responses_[g] = response(g, means_[g].mean(i, draw) + inflation * kNormals[other] *
                                                                      means_[g].learnt(i, draw));
          }
          above[i] += std::max(0.0, utility_.of(responses_) - best[draw]);
        }
      }
    }
    return above / static_cast<double>(static_cast<std::size_t>(draws()) * count);
  }

 private:
  double response(std::size_t g, double value) const {
    return surfaces::back_transformed(problem_.objectives[utility_.goals()[g]].transform, value);
  }

  const Problem& problem_;
  const Utility& utility_;
  std::vector<Means> means_;
  std::vector<double> responses_;
};

/// The highest utility of completed settings that rather meet the limits than not, in each draw.
std::optional<Eigen::RowVectorXd> best_so_far(const Problem& problem, const SurrogateModels& models,
                                              const Utility& utility, Draws draws) {
  const Eigen::MatrixXd& coded = models.completed();
  if (coded.rows() == 0) return std::nullopt;
  const Eigen::VectorXd met = limits_met(problem, models, coded, draws);
  Utilities utilities(problem, models, utility, coded, draws);
  std::optional<Eigen::RowVectorXd> best;
  for (Eigen::Index i = 0; i < coded.rows(); ++i) {
    if (met[i] < 0.5) continue;
    Eigen::RowVectorXd own(utilities.draws());
    for (Eigen::Index draw = 0; draw < own.size(); ++draw) own[draw] = utilities.expected(i, draw);
    best = best ? best->cwiseMax(own) : own;
  }
  return best;
}

/// What is worth a run at each point.
struct Worth {
  Eigen::VectorXd completes;
  Eigen::VectorXd meets_limits;
  /// The expected improvement where a run completes and meets the limits; as long as no run met
  /// them, the probability of both.
  Eigen::VectorXd value;
};

Worth worth_of(const Problem& problem, const SurrogateModels& models, const Utility& utility,
               const Eigen::MatrixXd& coded, Draws draws,
               const std::optional<Eigen::RowVectorXd>& best, double inflation) {
  Worth worth{models.completion(coded), limits_met(problem, models, coded, draws), {}};
  worth.value = worth.completes.cwiseProduct(worth.meets_limits);
  if (best) {
    worth.value.array() *=
        Utilities(problem, models, utility, coded, draws).improvement(*best, inflation).array();
  }
  return worth;
}

/// The usable settings, less those that could not run.
surfaces::Block candidates_of(const Problem& problem, const std::vector<Observation>& so_far) {
  doe::Region region = problem.region;
  for (const Observation& observation : so_far) {
    if (!observation.completed) region = region.without(observation.settings);
  }
  return surfaces::SettingsSearch(problem.factors, region, {}, kMaxCandidates, kMaxCandidates)
      .all_points();
}

std::vector<Eigen::Index> highest(const Eigen::VectorXd& values, Eigen::Index count) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(values.size()));
  std::iota(order.begin(), order.end(), Eigen::Index{0});
  const auto kept = std::min<std::size_t>(order.size(), static_cast<std::size_t>(count));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                    [&](Eigen::Index a, Eigen::Index b) {
                      return values[a] != values[b] ? values[a] > values[b] : a < b;
                    });
  order.resize(kept);
  return order;
}

/// A run that completes and measures what is expected of it.
Observation as_expected(const Problem& problem, const std::vector<Observation>& so_far,
                        const Settings& settings) {
  const SurrogateModels models(problem, so_far);
  const Eigen::MatrixXd coded = doe::coded_point(problem.factors, settings).transpose();
  Observation observation{settings, true, {}};
  for (std::size_t o = 0; o < problem.objectives.size(); ++o) {
    const Objective& objective = problem.objectives[o];
    observation.values[objective.name] = surfaces::back_transformed(
        objective.transform, models.means(o, coded, Draws::kLikeliest).mean(0, 0));
  }
  return observation;
}

/// Before there are models: far from all runs, where a run completes.
std::optional<Proposal> exploring_run(const Problem& problem,
                                      const std::vector<Observation>& so_far,
                                      const SurrogateModels& models,
                                      const surfaces::Block& candidates) {
  const Eigen::VectorXd completes = models.completion(candidates.coded);
  Eigen::VectorXd nearest = Eigen::VectorXd::Ones(candidates.size());
  if (!so_far.empty()) nearest.setConstant(std::numeric_limits<double>::infinity());
  for (const Observation& run : so_far) {
    const Eigen::RowVectorXd coded = doe::coded_point(problem.factors, run.settings).transpose();
    nearest = nearest.cwiseMin((candidates.coded.rowwise() - coded).rowwise().squaredNorm());
  }
  Eigen::Index chosen = 0;
  if (completes.cwiseProduct(nearest).maxCoeff(&chosen) == 0) return std::nullopt;
  return Proposal{candidates.settings(chosen), {}, completes[chosen], 1, true};
}

std::optional<Proposal> next_run(const Problem& problem, const std::vector<Observation>& so_far) {
  const surfaces::Block candidates = candidates_of(problem, so_far);
  if (candidates.size() == 0) return std::nullopt;
  const SurrogateModels models(problem, so_far);
  if (!models.has_models()) return exploring_run(problem, so_far, models, candidates);
  const Utility utility(problem, so_far);
  const auto likeliest_best = best_so_far(problem, models, utility, Draws::kLikeliest);
  const auto best = best_so_far(problem, models, utility, Draws::kAll);
  const auto chosen = [&](double inflation) {
    const Worth of_all = worth_of(problem, models, utility, candidates.coded, Draws::kLikeliest,
                                  likeliest_best, inflation);
    const std::vector<Eigen::Index> rows = highest(of_all.value, kFinalists);
    const Eigen::MatrixXd coded = candidates.coded(rows, Eigen::all);
    const Worth worth = worth_of(problem, models, utility, coded, Draws::kAll, best, inflation);
    Eigen::Index at = 0;
    worth.value.maxCoeff(&at);
    Proposal proposal{candidates.settings(rows[static_cast<std::size_t>(at)]),
                      {},
                      worth.completes[at],
                      worth.meets_limits[at],
                      false};
    if (best) proposal.gain = utility.relative(worth.value[at], best->mean());
    return proposal;
  };
  const Proposal proposal = chosen(1);
  if (!proposal.gain || *proposal.gain >= kSmallGain) return proposal;
  Proposal exploring = chosen(kInflation);
  exploring.gain = proposal.gain;
  return exploring;
}

}  // namespace

std::vector<Proposal> next_runs(const Problem& problem, const std::vector<Observation>& so_far,
                                int batch, const std::vector<Settings>& under_way) {
  Problem others = problem;  // without what is under way or proposed already
  std::vector<Observation> expected = so_far;
  const auto assume = [&](const Settings& settings) {
    others.region = others.region.without(settings);
    expected.push_back(as_expected(problem, expected, settings));
  };
  for (const Settings& settings : under_way) assume(settings);
  std::vector<Proposal> proposals;
  while (static_cast<int>(proposals.size()) < batch) {
    if (!proposals.empty()) assume(proposals.back().settings);
    auto proposal = next_run(others, expected);
    if (!proposal) break;
    proposals.push_back(*std::move(proposal));
  }
  return proposals;
}

}  // namespace doetune::tuning
