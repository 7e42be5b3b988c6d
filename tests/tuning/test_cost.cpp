#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "surfaces/optimum/settings_search.h"
#include "tests/tuning/systems.h"
#include "tuning/proposal.h"
#include "tuning/run_cost.h"
#include "tuning/start.h"

using namespace doetune;
using namespace doetune::tuning;

namespace {

Observation timed(const Settings& settings, double seconds = 0) {
  return {settings, true, {{"y", hill(settings)}}, seconds};
}

/// The hill, where a is hard to change.
Problem split_problem() {
  Problem problem = plane_problem();
  problem.factors[0].hard_to_change = true;
  problem.region = doe::Region(problem.factors, {}, {});
  return problem;
}

surfaces::Block all_points(const Problem& problem) {
  return surfaces::SettingsSearch(problem.factors, problem.region, {}, 1000).all_points();
}

/// How often a changes among the runs.
int changes(const std::vector<Settings>& runs) {
  int count = 0;
  for (std::size_t i = 1; i < runs.size(); ++i) count += runs[i][0] != runs[i - 1][0];
  return count;
}

}  // namespace

TEST_CASE("runs cost the same where times hardly differ, and what is predicted where they do") {
  Problem problem = plane_problem();
  problem.cost.by_time = true;
  const surfaces::Block points = all_points(problem);
  std::vector<Observation> alike, differing;
  for (const Settings& settings : start(problem, 12)) {
    alike.push_back(timed(settings, 10 + 0.1 * settings[0]));
    differing.push_back(timed(settings, std::exp(settings[0] / 3)));
  }
  CHECK(RunCosts(problem, alike).of(points, {}).isOnes());
  const Eigen::VectorXd costs = RunCosts(problem, differing).of(points, {});
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    for (Eigen::Index j = 0; j < points.size(); j += 17) {
      const double ratio = std::exp((points.natural(i, 0) - points.natural(j, 0)) / 3);
      CHECK(costs[i] / costs[j] == Approx(ratio).epsilon(0.1));
    }
  }
}

TEST_CASE("other hard-to-change settings cost a change, and more GPUs more of everything") {
  Problem problem = split_problem();
  problem.cost.change = 3;
  problem.cost.weight = [](const Settings& settings) { return settings[1] + 1; };
  const surfaces::Block points = all_points(problem);
  const Eigen::VectorXd costs = RunCosts(problem, {}).of(points, Settings{4, 0});
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    const double once = points.natural(i, 0) == 4 ? 1 : 4;
    CHECK(costs[i] == Approx(once * (points.natural(i, 1) + 1)));
  }
}

TEST_CASE("hard-to-change settings change rarely, and the top is found all the same") {
  const auto searched = [](double change) {
    Problem problem = split_problem();
    problem.cost.change = change;
    std::vector<Observation> so_far;
    for (const Settings& settings : start(problem, 6)) so_far.push_back(timed(settings));
    std::vector<Settings> runs;
    while (runs.size() < 12) {
      problem.cost.in_place = so_far.back().settings;
      runs.push_back(next_runs(problem, so_far).front().settings);
      so_far.push_back(timed(runs.back()));
    }
    CHECK(std::set<Settings>(runs.begin(), runs.end()).contains(Settings{7, 3}));
    return changes(runs);
  };
  CHECK(searched(4) < searched(0));
}

TEST_CASE("a start with a hard-to-change factor comes in whole plots, the baseline first") {
  Problem problem = split_problem();
  problem.factors[0].baseline = 4;
  problem.factors[1].baseline = 9;
  const std::vector<Settings> runs = start(problem, 10);
  REQUIRE(runs.size() == 10);
  CHECK(runs.front() == Settings{4, 9});
  CHECK(std::set<Settings>(runs.begin(), runs.end()).size() == 10);
  std::set<double> settings_of_a;
  for (const Settings& run : runs) settings_of_a.insert(run[0]);
  CHECK(settings_of_a.size() >= 3);
  CHECK(changes(runs) == static_cast<int>(settings_of_a.size()) - 1);
}
