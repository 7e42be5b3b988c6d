#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.h"
#include "doe/design.h"
#include "surfaces/distributions.h"
#include "tests/tuning/systems.h"
#include "tuning/early_ending.h"
#include "tuning/proposal.h"
#include "tuning/start.h"
#include "tuning/surrogate_models.h"
#include "tuning/utility.h"

using namespace doetune;
using namespace doetune::tuning;

namespace {

constexpr int kSteps = 20;

/// The hill as a training sees it: the estimate nears what the run will have measured, faster with
/// a higher setting of a, and scatters about it.
struct Training {
  Settings settings;
  double measured = 0;
  RandomStream random;
  double scatter = 0.5;

  Training(const Settings& at, double noise, std::uint64_t seed)
      : settings(at), measured(hill(at)), random(seed, 1) {
    measured += noise * surfaces::normal_draw(random.uniform());
  }

  study::ProgressPoint at(int step) {
    const double left = std::exp(-step / (3 - 0.1 * settings[0]));
    const double error = step == kSteps ? 0 : scatter * surfaces::normal_draw(random.uniform());
    return {static_cast<double>(step), {{"y", measured - 40 * left + error}}};
  }

  Observation result() const { return {settings, true, {{"y", measured}}, kSteps}; }

  Progress whole() {
    Progress progress;
    for (int step = 1; step <= kSteps; ++step) progress.push_back(at(step));
    return progress;
  }
};

/// Runs of a search so far, with their progress.
struct Runs {
  std::vector<Observation> so_far;
  std::vector<Progress> progress;

  void add(const Observation& run, Progress reported) {
    so_far.push_back(run);
    progress.push_back(std::move(reported));
  }
};

Runs runs_of(const Problem& problem, int count, double noise) {
  Runs runs;
  std::uint64_t seed = 0;
  for (const Settings& settings : start(problem, count)) {
    Training training(settings, noise, ++seed);
    runs.add(training.result(), training.whole());
  }
  return runs;
}

EarlyEnding ending(const Problem& problem, const Runs& runs,
                   const study::EndEarlySettings& settings = {}) {
  return {problem, runs.so_far, runs.progress, settings};
}

study::ProgressPoint point(double step, double y) { return {step, {{"y", y}}}; }

/// The highest value of the runs.
double best_of(const Runs& runs) {
  double best = -1e9;
  for (const Observation& run : runs.so_far) best = std::max(best, run.values.at("y"));
  return best;
}

}  // namespace

TEST_CASE("a run is ended once even its best prospect is worse than the best run", "[early]") {
  const Problem problem = plane_problem();
  const Runs runs = runs_of(problem, 10, 0.2);
  const EarlyEnding early = ending(problem, runs);
  const double best = best_of(runs);
  // At step 10 the trainings are within 3 of their ends and scatter by 0.5.
  const auto bad = early.assess({0, 10}, point(10, best - 30));
  REQUIRE(bad);
  CHECK(bad->bounds.at("y").high > best - 30);
  CHECK(bad->bounds.at("y").high < best - 15);
  CHECK(bad->bounds.at("y").low == -INFINITY);
  CHECK(bad->reason.find("y would have been") == 0);
  CHECK_FALSE(early.assess({0, 10}, point(10, best)));
  CHECK_FALSE(early.assess({0, 10}, point(10, best + 5)));
}

TEST_CASE("the bound is the prediction limit of a new difference", "[early]") {
  // Theory: differences 1, 2, 3, 4, 5 have the mean 3 and the variance 2.5, so that a sixth is
  // below 3 + t sqrt(2.5 (1 + 1/5)), t the 99 % quantile of Student's t with 4 degrees of
  // freedom, 3.747.
  const Problem problem = plane_problem();
  Runs runs;
  for (int i = 0; i < 5; ++i) {
    const Settings settings{2.0 * i, static_cast<double>((3 * i) % 10)};
    const double y = hill(settings);
    runs.add({settings, true, {{"y", y}}}, {point(1, y - 1 - i), point(2, y)});
  }
  const double best = best_of(runs);
  const auto verdict = ending(problem, runs).assess({10, 10}, point(1, best - 50));
  REQUIRE(verdict);
  CHECK(verdict->bounds.at("y").high ==
        Approx(best - 50 + 3 + 3.747 * std::sqrt(3.0)).margin(0.01));
}

TEST_CASE("a run goes on if it is early, nearly done, repeated or without its goals", "[early]") {
  const Problem problem = plane_problem();
  const Runs runs = runs_of(problem, 10, 0.2);
  const double bad = best_of(runs) - 60;
  CHECK(ending(problem, runs).assess({0, 10}, point(10, bad)));
  CHECK_FALSE(ending(problem, runs, {0.99, 5, 11}).assess({0, 10}, point(10, bad)));  // run.after
  CHECK_FALSE(ending(problem, runs).assess({0, 10}, point(0.5, bad)));  // before any other report
  CHECK_FALSE(ending(problem, runs).assess({0, 10}, point(17, bad)));   // of 20 steps
  CHECK_FALSE(ending(problem, runs).assess(runs.so_far[3].settings, point(10, bad)));
  CHECK_FALSE(ending(problem, runs).assess({0, 10}, {10, {{"z", bad}}}));
  CHECK_FALSE(
      ending(problem, runs, {0.99, 11, 0}).assess({0, 10}, point(10, bad)));  // too few runs
}

TEST_CASE("a run is ended for a lower goal, a target and several goals, each by its own sense",
          "[early]") {
  Problem problem = plane_problem();
  Runs runs = runs_of(problem, 10, 0.2);
  const auto [low, high] = std::minmax_element(
      runs.so_far.begin(), runs.so_far.end(),
      [](const auto& a, const auto& b) { return a.values.at("y") < b.values.at("y"); });
  const double worst = low->values.at("y"), best = high->values.at("y");
  problem.objectives = {objective("y", doe::GoalType::kMinimize)};
  CHECK_FALSE(ending(problem, runs).assess({0, 10}, point(10, worst - 20)));
  const auto above = ending(problem, runs).assess({0, 10}, point(10, worst + 60));
  REQUIRE(above);
  CHECK(above->bounds.at("y").high == INFINITY);
  problem.objectives = {objective("y", doe::GoalType::kTarget)};
  problem.objectives[0].goal.target = best;
  CHECK(ending(problem, runs).assess({0, 10}, point(10, best - 60))->bounds.at("y").low ==
        -INFINITY);
  CHECK(ending(problem, runs).assess({0, 10}, point(10, best + 60))->bounds.at("y").high ==
        INFINITY);
  CHECK_FALSE(ending(problem, runs).assess({0, 10}, point(10, best)));

  // Two goals: better in one of them is reason enough to go on.
  problem.objectives = {objective("y", doe::GoalType::kMaximize),
                        objective("w", doe::GoalType::kMaximize)};
  for (std::size_t i = 0; i < runs.so_far.size(); ++i) {
    runs.so_far[i].values["w"] = runs.so_far[i].values["y"] / 2;
    for (study::ProgressPoint& each : runs.progress[i]) {
      each.responses["w"] = each.responses["y"] / 2;
    }
  }
  CHECK(ending(problem, runs).assess({0, 10}, {10, {{"y", best - 60}, {"w", best / 2 - 40}}}));
  CHECK_FALSE(ending(problem, runs).assess({0, 10}, {10, {{"y", best - 60}, {"w", best}}}));
}

TEST_CASE("the bound of a run that diverges is the worst measured value", "[early]") {
  const Problem problem = plane_problem();
  const Runs runs = runs_of(problem, 10, 0.2);
  double worst = 1e9;
  for (const Observation& run : runs.so_far) worst = std::min(worst, run.values.at("y"));
  CHECK(ending(problem, runs).assess({0, 10}, point(10, -1e12))->bounds.at("y").high == worst);
}

TEST_CASE("runs that met no limit are none to be compared with", "[early]") {
  Problem problem = plane_problem();
  problem.objectives.push_back(at_most("latency", 1));
  Runs runs = runs_of(problem, 10, 0.2);
  for (Observation& run : runs.so_far) run.values["latency"] = 2;
  CHECK_FALSE(ending(problem, runs).assess({0, 10}, point(10, -100)));
  runs.so_far[0].values["latency"] = 0.5;
  CHECK(ending(problem, runs).assess({0, 10}, point(10, -100)));
}

TEST_CASE("no run that would have been the best is ended, and half of the time is saved",
          "[early]") {
  const Problem problem = plane_problem();
  double made = 0, whole = 0;
  int ended = 0, beyond = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    Runs runs = runs_of(problem, 8, 1);
    RandomStream random(seed, 7);
    for (int run = 0; run < 25; ++run) {
      const Settings settings{static_cast<double>(random.below(11)),
                              static_cast<double>(random.below(11))};
      Training training(settings, 1, 100 * seed + static_cast<std::uint64_t>(run));
      const EarlyEnding early = ending(problem, runs);
      Progress progress;
      std::optional<EarlyVerdict> verdict;
      for (int step = 1; step <= kSteps && !verdict; ++step) {
        progress.push_back(training.at(step));
        verdict = early.assess(settings, progress.back());
      }
      made += static_cast<double>(progress.size());
      whole += kSteps;
      if (!verdict) {
        runs.add(training.result(), progress);
        continue;
      }
      ++ended;
      CAPTURE(seed, run, settings);
      double best = -1e9;
      for (const Observation& other : runs.so_far) {
        if (!other.ended_early()) best = std::max(best, hill(other.settings));
      }
      CHECK(hill(settings) < best);
      beyond += training.measured > verdict->bounds.at("y").high;
      runs.add({settings, true, {}, 0, verdict->bounds}, {});
    }
  }
  CHECK(ended > 40);
  CHECK(beyond <= 0.03 * ended);  // the bounds hold with 99 % each, at one of several looks
  CHECK(made < 0.6 * whole);
}

TEST_CASE("a run that was ended early lowers the model at its settings, and is no best run",
          "[early]") {
  const Problem problem = plane_problem();
  Runs runs = runs_of(problem, 8, 0.2);
  Observation ended{{7, 3}, true, {}, 0, {{"y", {-INFINITY, 20}}}};
  Eigen::MatrixXd there = doe::coded_point(problem.factors, ended.settings).transpose();
  const SurrogateModels without(problem, runs.so_far);
  runs.so_far.push_back(ended);
  const SurrogateModels with(problem, runs.so_far);
  CHECK(with.means(0, there, Draws::kLikeliest).mean(0, 0) <
        without.means(0, there, Draws::kLikeliest).mean(0, 0) - 20);
  CHECK(with.completed().rows() == without.completed().rows());
  CHECK(with.completion(there)[0] == 1);
  CHECK(best_measured(problem, runs.so_far) != runs.so_far.size() - 1);
  for (const Proposal& proposal : next_runs(problem, runs.so_far, 2)) {
    CHECK(proposal.settings != ended.settings);
  }
}
