// What ending runs early saves, and what it costs: searches of simulated systems without it, with
// the rule of doetune, and with the median stopping rule of other tuners.
//
// usage: bench_early_ending [SEARCHES [RUNS [CONFIDENCE]]]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "base/random.h"
#include "surfaces/distributions.h"
#include "surfaces/optimum/settings_search.h"
#include "tuning/answer.h"
#include "tuning/early_ending.h"
#include "tuning/proposal.h"
#include "tuning/start.h"
#include "tuning/utility.h"

namespace doetune::tuning {
namespace {

constexpr int kSteps = 30;
constexpr double kNoise = 0.01;  ///< standard deviation of what repeated runs measure

/// training  accuracy after each epoch: settings that learn slowly are far from their end for long,
///           so that curves cross
/// steady    a running mean, which scatters the less about its end the longer it is measured
enum class Curve { kTraining, kSteady };

/// Learning rate (log10), batch (log2) and a number of threads, all coded from 0 to 1.
struct System {
  Curve curve;
  Problem problem;

  explicit System(Curve of) : curve(of) {
    problem.factors = {levels("rate", 13), levels("batch", 9), levels("threads", 5)};
    problem.region = doe::Region(problem.factors, {}, {});
    Objective accuracy{"accuracy", {}, surfaces::Transform::kNone};
    accuracy.goal.type = doe::GoalType::kMaximize;
    problem.objectives = {accuracy};
    problem.infeasible_when.resize(3);
    problem.threads = 1;
  }

  static doe::Factor levels(const char* name, int count) {
    doe::Factor factor;
    factor.name = name;
    factor.kind = doe::FactorKind::kDiscrete;
    for (int i = 0; i < count; ++i) factor.levels.push_back(static_cast<double>(i) / (count - 1));
    factor.low = 0;
    factor.high = 1;
    return factor;
  }

  /// A ridge: a larger batch wants a higher rate; beyond it, training diverges.
  double truth(const Settings& x) const {
    const double along = x[0] - 0.4 - 0.3 * x[1];
    const double steep = along > 0 ? 6 : 1.5;
    return 0.92 - steep * along * along - 0.1 * std::pow(x[1] - 0.6, 2) -
           0.05 * std::pow(x[2] - 0.75, 2);
  }

  double best() const {
    const surfaces::SettingsSearch all(problem.factors, problem.region, {}, 10'000);
    const surfaces::Block points = all.all_points();
    double highest = 0;
    for (Eigen::Index i = 0; i < points.size(); ++i) {
      highest = std::max(highest, truth(points.settings(i)));
    }
    return highest;
  }

  double seconds_per_step(const Settings& x) const { return 12 - 8 * x[1]; }

  study::ProgressPoint report(const Settings& x, double measured, int step,
                              RandomStream& random) const {
    const double scatter = surfaces::normal_draw(random.uniform());
    double value = measured;
    if (curve == Curve::kTraining) {
      const double constant = 3 + 6 * (1 - x[0]);
      value += -0.6 * (std::exp(-step / constant) - std::exp(-kSteps / constant));
      if (step < kSteps) value += 0.004 * scatter;
    } else if (step < kSteps) {
      value += 0.03 * scatter * std::sqrt(1.0 / step - 1.0 / kSteps);
    }
    return {static_cast<double>(step), {{"accuracy", value}}};
  }
};

enum class Rule { kNone, kPredictive, kMedian };

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Golovin et al. (2017): a run ends if its best report so far is below the median of the means of
/// the reports of completed runs up to the same step. It would have measured no more than their
/// median value.
std::optional<EarlyVerdict> by_median(const std::vector<Observation>& so_far,
                                      const std::vector<Progress>& progress,
                                      const Progress& reported) {
  std::vector<double> means, values;
  for (std::size_t i = 0; i < so_far.size(); ++i) {
    if (so_far[i].ended_early()) continue;
    double sum = 0;
    for (std::size_t step = 0; step < reported.size(); ++step) {
      sum += progress[i][step].responses.at("accuracy");
    }
    means.push_back(sum / static_cast<double>(reported.size()));
    values.push_back(so_far[i].values.at("accuracy"));
  }
  double best = -1e9;
  for (const auto& point : reported) best = std::max(best, point.responses.at("accuracy"));
  if (best >= median(means) || static_cast<int>(reported.size()) == kSteps) return std::nullopt;
  return EarlyVerdict{{{"accuracy", {-INFINITY, median(values)}}}, ""};
}

struct Outcome {
  double seconds = 0, worth = 0;
  int ended = 0;
  int better = 0;  ///< ended runs that are truly better than all that were completed
};

Outcome search(const System& system, std::uint64_t seed, int runs, Rule rule,
               const study::EndEarlySettings& settings) {
  Problem problem = system.problem;
  problem.seed = seed;
  RandomStream random(seed, 11);
  std::vector<Observation> so_far;
  std::vector<Progress> progress;
  std::vector<Settings> next = start(problem, start_size(problem, runs));
  std::vector<Settings> ended;
  const std::size_t first = next.size();
  Outcome outcome;
  while (static_cast<int>(so_far.size()) < runs && !next.empty()) {
    for (const Settings& x : next) {
      const double measured = system.truth(x) + kNoise * surfaces::normal_draw(random.uniform());
      std::optional<EarlyEnding> early;
      const bool judges = so_far.size() >= first;
      if (rule == Rule::kPredictive && judges) early.emplace(problem, so_far, progress, settings);
      Progress reported;
      std::optional<EarlyVerdict> verdict;
      for (int step = 1; step <= kSteps && !verdict; ++step) {
        reported.push_back(system.report(x, measured, step, random));
        if (early) verdict = early->assess(x, reported.back());
        if (rule == Rule::kMedian && judges) verdict = by_median(so_far, progress, reported);
      }
      outcome.seconds += system.seconds_per_step(x) * static_cast<double>(reported.size());
      if (verdict) {
        ended.push_back(x);
        problem.region = problem.region.without(x);
        so_far.push_back({x, true, {}, 0, verdict->bounds});
      } else {
        so_far.push_back({x, true, {{"accuracy", measured}}, 0});
      }
      progress.push_back(std::move(reported));
    }
    next.clear();
    for (const Proposal& proposal : next_runs(problem, so_far)) next.push_back(proposal.settings);
  }
  double highest = 0;
  for (const Observation& run : so_far) {
    if (!run.ended_early()) highest = std::max(highest, system.truth(run.settings));
  }
  outcome.ended = static_cast<int>(ended.size());
  outcome.better = static_cast<int>(std::count_if(
      ended.begin(), ended.end(), [&](const Settings& x) { return system.truth(x) > highest; }));
  const auto optimum = answer(problem, so_far);
  outcome.worth = system.truth(optimum ? optimum->best.settings
                                       : so_far[*best_measured(problem, so_far)].settings) /
                  system.best();
  return outcome;
}

double quantile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1))];
}

void report(const char* rule, const std::vector<Outcome>& outcomes,
            const std::vector<Outcome>& without) {
  std::vector<double> saved, worth;
  int ended = 0, better = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    saved.push_back(1 - outcomes[i].seconds / without[i].seconds);
    worth.push_back(outcomes[i].worth);
    ended += outcomes[i].ended;
    better += outcomes[i].better;
  }
  fmt::print(
      "  {:10} {:4.1f} runs ended, {:.1f} % of them better than all completed runs; time saved "
      "{:.0f} % ({:.0f} to {:.0f}); answer {:.4f} / {:.4f}\n",
      rule, static_cast<double>(ended) / static_cast<double>(outcomes.size()),
      ended == 0 ? 0.0 : 100.0 * better / ended, 100 * quantile(saved, 0.5),
      100 * quantile(saved, 0.1), 100 * quantile(saved, 0.9), quantile(worth, 0.5),
      quantile(worth, 0.1));
}

void compare(const char* name, Curve curve, int searches, int runs, double confidence) {
  const System system(curve);
  const study::EndEarlySettings settings{confidence};
  std::vector<std::vector<Outcome>> of_rule(
      3, std::vector<Outcome>(static_cast<std::size_t>(searches)));
  parallel_for(3 * searches, 0, [&](int task) {
    const auto rule = static_cast<std::size_t>(task % 3);
    const auto i = static_cast<std::size_t>(task / 3);
    of_rule[rule][i] = search(system, i + 1, runs, static_cast<Rule>(rule), settings);
  });
  fmt::print(
      "{}: {} searches of {} runs; time saved: median and tenths; answer: true value of the "
      "settings / the best, median and worst tenth\n",
      name, searches, runs);
  report("none", of_rule[0], of_rule[0]);
  report("doetune", of_rule[1], of_rule[0]);
  report("median", of_rule[2], of_rule[0]);
}

}  // namespace
}  // namespace doetune::tuning

int main(int argc, char** argv) {
  using namespace doetune::tuning;
  const int searches = argc > 1 ? std::atoi(argv[1]) : 40;
  const int runs = argc > 2 ? std::atoi(argv[2]) : 30;
  const double confidence = argc > 3 ? std::atof(argv[3]) : 0.99;
  compare("training", Curve::kTraining, searches, runs, confidence);
  compare("steady", Curve::kSteady, searches, runs, confidence);
  return 0;
}
