#include "tuning/proposal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/optimum/settings_search.h"
#include "tuning/acquisition.h"
#include "tuning/run_cost.h"
#include "tuning/surrogate_models.h"
#include "tuning/utility.h"

namespace doetune::tuning {
namespace {

/// Where there are more usable settings than candidates: points of a grid, others at random, and
/// others near the best runs.
constexpr std::size_t kCoarse = 1'000;
constexpr int kAnywhere = 4'000;
constexpr std::size_t kBestRuns = 4;
constexpr int kNearEach = 500;
constexpr double kNear = 0.2, kVeryNear = 0.03;  ///< standard deviations of their distance, coded
constexpr std::size_t kMoved = 3;                ///< factors that move on average, at most

/// The best of these are improved one factor, and then two factors at a time.
constexpr Eigen::Index kImproved = 3;
constexpr long kEvaluations = 1'000;  ///< for each of them

constexpr Eigen::Index kFinalists = 200;  ///< of the candidates, for which parameters are drawn

/// Below this gain the predictive standard deviations are inflated, to force exploration: every
/// other time, since of many factors it would try one corner after another (bench/tuning).
constexpr double kSmallGain = 0.01, kInflation = 3;

using Mask = Eigen::Array<bool, Eigen::Dynamic, 1>;  ///< of candidates

/// Settings near others: each factor moves with probability 1/2, or less if there are many.
Settings near_settings(const std::vector<doe::Factor>& factors, const Settings& settings,
                       RandomStream& random) {
  Settings near = settings;
  const double deviation = random.below(2) == 0 ? kNear : kVeryNear;
  const std::size_t of = std::max(2 * kMoved, factors.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (random.below(of) >= kMoved) continue;
    if (factors[f].is_categorical()) {
      near[f] = static_cast<double>(random.below(factors[f].level_names.size()));
      continue;
    }
    const double moved =
        factors[f].to_coded(settings[f]) + deviation * surfaces::normal_draw(random.uniform());
    near[f] = factors[f].snap(factors[f].to_natural(std::clamp(moved, -1.0, 1.0)));
  }
  return near;
}

/// The settings of the best runs that meet the limits, best first.
std::vector<Settings> best_runs(const Problem& problem, const std::vector<Observation>& so_far) {
  const Utility utility(problem, so_far);
  std::vector<std::pair<double, const Settings*>> runs;
  for (const Observation& run : so_far) {
    if (const auto value = utility.of(run)) runs.emplace_back(-*value, &run.settings);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Settings> best;
  for (const auto& [value, settings] : runs) {
    if (best.size() == kBestRuns) break;
    if (std::find(best.begin(), best.end(), *settings) == best.end()) best.push_back(*settings);
  }
  return best;
}

void append(const std::vector<doe::Factor>& factors, const std::vector<Settings>& more,
            surfaces::Block& points) {
  const Eigen::Index before = points.size();
  points.natural.conservativeResize(before + static_cast<Eigen::Index>(more.size()),
                                    Eigen::NoChange);
  points.coded.conservativeResize(points.natural.rows(), Eigen::NoChange);
  for (std::size_t i = 0; i < more.size(); ++i) {
    const Eigen::Index row = before + static_cast<Eigen::Index>(i);
    points.natural.row(row) =
        Eigen::RowVectorXd::Map(more[i].data(), static_cast<Eigen::Index>(more[i].size()));
    points.coded.row(row) = doe::coded_point(factors, more[i]).transpose();
  }
}

/// Without what could not run, and what is known to be harder.
doe::Region open_region(const Problem& problem, const std::vector<Observation>& so_far) {
  std::vector<Settings> infeasible;
  for (const Observation& observation : so_far) {
    if (!observation.completed) infeasible.push_back(observation.settings);
  }
  if (infeasible.empty()) return problem.region;
  const auto is_easier = [infeasible, when = problem.infeasible_when](const Settings& settings) {
    return std::none_of(infeasible.begin(), infeasible.end(), [&](const Settings& other) {
      return surfaces::is_no_harder(other, settings, when);
    });
  };
  return problem.region.where(is_easier, "settings that can run");
}

surfaces::SettingsSearch search_in(const doe::Region& region, const Problem& problem) {
  if (!problem.only.empty()) return {problem.factors, region, problem.only};
  return {problem.factors, region, {}, kMaxCandidates, kCoarse};
}

/// The points of the search, and others at random where these are not all.
surfaces::Block candidates_of(const surfaces::SettingsSearch& search, const doe::Region& region,
                              const Problem& problem, const std::vector<Observation>& so_far) {
  surfaces::Block points = search.all_points();
  if (search.is_exhaustive()) return points;
  RandomStream random(problem.seed, so_far.size());
  std::vector<Settings> more;
  for (int i = 0; i < kAnywhere; ++i)
    more.push_back(surfaces::random_settings(search.choices(), random));
  for (const Settings& best : best_runs(problem, so_far)) {
    for (int i = 0; i < kNearEach; ++i) {
      more.push_back(near_settings(problem.factors, best, random));
    }
  }
  std::erase_if(more, [&](const Settings& settings) { return !region.allows(settings); });
  append(problem.factors, more, points);
  return points;
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

/// Proposes runs one after another, each as if the ones before it had measured what is expected.
class Proposer {
 public:
  Proposer(const Problem& problem, const std::vector<Observation>& so_far)
      : problem_(problem), so_far_(so_far) {}

  /// Takes for granted that a run measures what is expected, and that it is not proposed again.
  void assume(const Settings& settings) {
    const Eigen::MatrixXd coded = doe::coded_point(problem_.factors, settings).transpose();
    Observation expected{settings, true, {}};
    expected.pending = true;
    for (std::size_t o = 0; o < problem_.objectives.size(); ++o) {
      const Objective& objective = problem_.objectives[o];
      expected.values[objective.name] = surfaces::back_transformed(
          objective.transform, models().means(o, coded, Draws::kLikeliest).mean(0, 0));
    }
    problem_.region = problem_.region.without(settings);
    problem_.cost.in_place = settings;
    so_far_.push_back(std::move(expected));
    models_.reset();
  }

  std::optional<Proposal> next() {
    const doe::Region region = open_region(problem_, so_far_);
    const surfaces::SettingsSearch search = search_in(region, problem_);
    surfaces::Block candidates = candidates_of(search, region, problem_, so_far_);
    if (candidates.size() == 0) return std::nullopt;
    if (!search.is_exhaustive() && models().has_models()) add_improved(search, candidates);
    const Eigen::VectorXd costs =
        RunCosts(problem_, so_far_).of(candidates, problem_.cost.in_place);
    return models().has_models() ? most_improving(candidates, costs) : exploring(candidates, costs);
  }

 private:
  /// Adds what the best candidates become by moves that a run is worth more after.
  void add_improved(const surfaces::SettingsSearch& search, surfaces::Block& candidates) {
    const Utility utility(problem_, so_far_);
    const auto at = [&](const Eigen::MatrixXd& coded) {
      return Acquisition(problem_, models(), utility, coded, Draws::kLikeliest);
    };
    const auto best = at(models().completed()).incumbent();
    const Eigen::VectorXd worth = at(candidates.coded).worth(best, 1);
    std::vector<Settings> improved;
    for (const Eigen::Index start : highest(worth, kImproved)) {
      double most = worth[start];
      const auto choose = [&](const surfaces::Block& trials) -> std::optional<Eigen::Index> {
        Eigen::Index i = 0;
        const double highest = at(trials.coded).worth(best, 1).maxCoeff(&i);
        if (highest <= most) return std::nullopt;
        most = highest;
        return i;
      };
      long evaluations = kEvaluations;
      improved.push_back(search.improved(candidates.settings(start), choose, evaluations));
    }
    append(problem_.factors, improved, candidates);
  }

  const SurrogateModels& models() {
    if (!models_) models_.emplace(problem_, so_far_);
    return *models_;
  }

  /// Before there are models: far from all runs, where a run completes.
  std::optional<Proposal> exploring(const surfaces::Block& candidates,
                                    const Eigen::VectorXd& costs) {
    const Eigen::VectorXd completes = models().completion(candidates.coded);
    Eigen::VectorXd nearest = Eigen::VectorXd::Ones(candidates.size());
    if (!so_far_.empty()) nearest.setConstant(std::numeric_limits<double>::infinity());
    for (const Observation& run : so_far_) {
      const Eigen::RowVectorXd coded = doe::coded_point(problem_.factors, run.settings).transpose();
      nearest = nearest.cwiseMin((candidates.coded.rowwise() - coded).rowwise().squaredNorm());
    }
    Eigen::Index chosen = 0;
    const Eigen::VectorXd worth = completes.cwiseProduct(nearest).cwiseQuotient(costs);
    if (worth.maxCoeff(&chosen) == 0) return std::nullopt;
    return Proposal{candidates.settings(chosen), {}, completes[chosen], 1, true};
  }

  /// A worth of 0 for what has been run: where nothing can meet the limits, repeats show nothing
  /// new.
  void leave_out_runs(const surfaces::Block& candidates, Eigen::VectorXd& worth) const {
    for (Eigen::Index i = 0; i < candidates.size(); ++i) {
      const Settings settings = candidates.settings(i);
      if (std::any_of(so_far_.begin(), so_far_.end(),
                      [&](const Observation& run) { return run.settings == settings; })) {
        worth[i] = 0;
      }
    }
  }

  /// Which candidates have a level of a categorical factor that no run has had.
  Mask with_untried_levels(const surfaces::Block& candidates) const {
    Mask untried = Mask::Constant(candidates.size(), false);
    for (std::size_t f = 0; f < problem_.factors.size(); ++f) {
      if (!problem_.factors[f].is_categorical()) continue;
      std::set<double> tried;
      for (const Observation& run : so_far_) tried.insert(run.settings[f]);
      for (const Settings& settings : problem_.tried) tried.insert(settings[f]);
      const auto column = candidates.natural.col(static_cast<Eigen::Index>(f));
      for (Eigen::Index i = 0; i < candidates.size(); ++i) {
        untried[i] = untried[i] || !tried.contains(column[i]);
      }
    }
    return untried;
  }

  Proposal most_improving(const surfaces::Block& candidates, const Eigen::VectorXd& costs) {
    const Utility utility(problem_, so_far_);
    const auto at = [&](const Eigen::MatrixXd& coded, Draws draws) {
      return Acquisition(problem_, models(), utility, coded, draws);
    };
    const auto likeliest_best = at(models().completed(), Draws::kLikeliest).incumbent();
    const auto best = at(models().completed(), Draws::kAll).incumbent();
    const Acquisition all = at(candidates.coded, Draws::kLikeliest);
    const auto chosen = [&](double inflation, const Mask& among) {
      Eigen::VectorXd worth_of_all = all.worth(likeliest_best, inflation);
      const bool hopeless = worth_of_all.maxCoeff() < Acquisition::kHopeless;
      if (hopeless) leave_out_runs(candidates, worth_of_all);
      worth_of_all = among.select(worth_of_all, -1);
      std::vector<Eigen::Index> rows = highest(worth_of_all.cwiseQuotient(costs), kFinalists);
      if (hopeless && worth_of_all[rows.front()] > 0) {
        std::erase_if(rows, [&](Eigen::Index i) { return worth_of_all[i] == 0; });
      }
      std::erase_if(rows, [&](Eigen::Index i) { return !among[i]; });
      const Acquisition finalists = at(candidates.coded(rows, Eigen::all), Draws::kAll);
      const Eigen::VectorXd worth = finalists.worth(best, inflation);
      const auto gain_at = [&](Eigen::Index i) {
        return utility.relative(worth[i], best->utility.mean());
      };
      Eigen::Index i = 0;
      worth.cwiseQuotient(costs(rows)).maxCoeff(&i);
      if (best && gain_at(i) < kSmallGain) worth.maxCoeff(&i);  // the largest there is
      Proposal proposal{candidates.settings(rows[static_cast<std::size_t>(i)]),
                        {},
                        finalists.completes()[i],
                        finalists.meets_limits()[i],
                        false};
      if (best) proposal.gain = gain_at(i);
      return proposal;
    };
    const Mask any = Mask::Constant(candidates.size(), true);
    const Proposal proposal = chosen(1, any);
    if (!proposal.gain || *proposal.gain >= kSmallGain) return proposal;
    const Mask untried = with_untried_levels(candidates);
    if (!untried.any() && so_far_.size() % 2 == 1) return proposal;
    Proposal exploring = chosen(kInflation, untried.any() ? untried : any);
    exploring.gain = proposal.gain;
    exploring.untried = untried.any();
    return exploring;
  }

  Problem problem_;  ///< without what is under way or proposed already
  std::vector<Observation> so_far_;
  std::optional<SurrogateModels> models_;  ///< of so_far_
};

}  // namespace

std::vector<Proposal> next_runs(const Problem& problem, const std::vector<Observation>& so_far,
                                int batch, const std::vector<Settings>& under_way) {
  Proposer proposer(problem, so_far);
  for (const Settings& settings : under_way) proposer.assume(settings);
  std::vector<Proposal> proposals;
  while (static_cast<int>(proposals.size()) < batch) {
    if (!proposals.empty()) proposer.assume(proposals.back().settings);
    auto proposal = proposer.next();
    if (!proposal) break;
    proposals.push_back(*std::move(proposal));
  }
  return proposals;
}

}  // namespace doetune::tuning
