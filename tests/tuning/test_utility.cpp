#include <catch2/catch.hpp>
#include <limits>

#include "tests/tuning/systems.h"
#include "tuning/utility.h"

using namespace doetune;
using namespace doetune::tuning;

TEST_CASE("the utility of one goal is linear from the worst to the best run, and beyond") {
  const Problem problem = plane_problem();
  const Utility utility(problem, {{{0, 0}, true, {{"y", 10}}}, {{1, 0}, true, {{"y", 20}}}});
  CHECK(utility.of(std::vector<double>{10}) == Approx(0).margin(1e-12));
  CHECK(utility.of(std::vector<double>{20}) == Approx(1));
  CHECK(utility.of(std::vector<double>{25}) == Approx(1.5));
  // A tenth of the range, 1, is 5 % of the best, 20.
  CHECK(utility.relative(0.1, 1) == Approx(0.05));
}

TEST_CASE("what is minimised is better where it is lower") {
  Problem problem = plane_problem();
  problem.objectives[0].goal.type = doe::GoalType::kMinimize;
  const Utility utility(problem, {{{0, 0}, true, {{"y", 10}}}, {{1, 0}, true, {{"y", 20}}}});
  CHECK(utility.of(std::vector<double>{5}) == Approx(1.5));
  CHECK(utility.relative(0.1, 1) == Approx(0.1));
}

TEST_CASE("the utility of several goals is their geometric mean, by importance") {
  Problem problem = plane_problem();
  problem.objectives.push_back(objective("z", doe::GoalType::kMinimize));
  problem.objectives[1].goal.importance = 3;
  const Utility utility(
      problem, {{{0, 0}, true, {{"y", 0}, {"z", 0}}}, {{1, 0}, true, {{"y", 1}, {"z", 1}}}});
  CHECK(utility.of(std::vector<double>{0.5, 0.9}) ==
        Approx(std::pow(0.5, 0.25) * std::pow(0.1, 0.75)));
}

TEST_CASE("runs outside the ramp of a goal are still told apart") {
  Problem problem = plane_problem();
  problem.objectives[0] = objective("y", doe::GoalType::kMinimize);
  problem.objectives.push_back(objective("z", doe::GoalType::kMaximize));
  const std::vector<Observation> runs{{{0, 0}, true, {{"y", 80}, {"z", 1}}},
                                      {{1, 0}, true, {{"y", 120}, {"z", 2}}}};
  for (const double low : {-std::numeric_limits<double>::infinity(), 10.0}) {
    problem.objectives[0].goal.low = low;
    problem.objectives[0].goal.high = 50;
    const Utility utility(problem, runs);
    CHECK(utility.of(std::vector<double>{80, 1.5}) > utility.of(std::vector<double>{100, 1.5}));
    for (const Observation& run : runs)
      CHECK(utility.heights({run.values.at("y"), run.values.at("z")})[0] >
            0);  // above the reference
  }
}

TEST_CASE("the best measured run is none that fails or misses a limit") {
  Problem problem = plane_problem();
  problem.objectives.push_back(at_most("latency", 5));
  std::vector<Observation> runs{{{0, 0}, false, {}},
                                {{1, 0}, true, {{"y", 30}, {"latency", 6}}},
                                {{2, 0}, true, {{"y", 10}, {"latency", 5}}},
                                {{3, 0}, true, {{"y", 20}, {"latency", 4}}}};
  CHECK(best_measured(problem, runs) == std::optional<std::size_t>(3));
  runs.push_back({{3, 0}, false, {}});  // it could not run once more
  CHECK(best_measured(problem, runs) == std::optional<std::size_t>(2));
  runs.resize(2);
  CHECK_FALSE(best_measured(problem, runs));
}
