#include <catch2/catch.hpp>
#include <stdexcept>

#include "surfaces/distributions.h"
#include "tests/tuning/systems.h"
#include "tuning/replay.h"

using namespace doetune;
using namespace doetune::tuning;

namespace {

std::vector<Observation> hill_table() {
  std::vector<Observation> rows;
  for (double a = 0; a <= 10; ++a) {
    for (double b = 0; b <= 10; ++b) {
      const Settings settings{a, b};
      const bool completes = a + b <= 14;
      rows.push_back({settings, completes, {}});
      if (completes) rows.back().values = {{"y", hill(settings)}, {"latency", a + b}};
    }
  }
  return rows;
}

Problem limited_problem() {
  Problem problem = plane_problem();
  problem.objectives.push_back(at_most("latency", 9));
  return problem;
}

}  // namespace

TEST_CASE("the worth of settings is a fraction of the best that completes and meets the limits") {
  const RecordedSystem system(limited_problem(), hill_table());
  // With a + b <= 9 the best is 6, 3 (99); 7, 3 misses the limit, 10, 10 cannot run.
  CHECK(system.worth({6, 3}) == Approx(1));
  CHECK(system.worth({5, 3}) == Approx(96.0 / 99));
  CHECK(system.worth({7, 3}) == 0);
  CHECK(system.worth({10, 10}) == 0);
}

TEST_CASE("the worth of responses that are not positive") {
  Problem problem = plane_problem();
  const auto worth = [&](double first, double second, double third) {
    const RecordedSystem system(problem, {{{0, 0}, true, {{"y", first}}},
                                          {{1, 0}, true, {{"y", second}}},
                                          {{2, 0}, true, {{"y", third}}}});
    return std::vector{system.worth({0, 0}), system.worth({1, 0}), system.worth({2, 0})};
  };
  CHECK(worth(-10, -20, -40) == std::vector{1.0, 0.5, 0.25});  // such as log-likelihoods
  CHECK(worth(3, 1, -1)[1] == Approx(0.5));
  CHECK(worth(3, 1, -1)[2] > 0);  // the worst, but it does not fail
  problem.objectives[0].goal.type = doe::GoalType::kMinimize;
  CHECK(worth(10, 20, 40) == std::vector{1.0, 0.5, 0.25});
  CHECK(worth(0, 1, 4)[0] == 1);
  CHECK(worth(0, 1, 4)[1] == Approx(0.75));
  CHECK(worth(0, 0, 0) == std::vector{1.0, 1.0, 1.0});
}

TEST_CASE("several measurements of a configuration are drawn from, and their mean is the truth") {
  Problem problem = plane_problem();
  const std::vector<Observation> rows{{{0, 0}, true, {{"y", 10}}},
                                      {{0, 0}, true, {{"y", 14}}},
                                      {{1, 0}, true, {{"y", 24}}},
                                      {{2, 0}, true, {{"y", 20}}},
                                      {{2, 0}, false, {}}};
  const RecordedSystem system(problem, rows);
  CHECK(system.size() == 3);
  CHECK(system.worth({0, 0}) == Approx(0.5));
  CHECK(system.worth({2, 0}) == 0);  // it could not run once
  RandomStream random(1, 1);
  int low = 0;
  for (int i = 0; i < 100; ++i) {
    const double y = system.run({0, 0}, 0, random).values.at("y");
    CHECK((y == 10 || y == 14));
    low += y == 10;
  }
  CHECK(low > 20);
  CHECK(low < 80);
}

TEST_CASE("a table of configurations that are no grid is searched among them") {
  Problem problem = plane_problem();
  for (doe::Factor& factor : problem.factors) factor.kind = doe::FactorKind::kContinuous;
  RandomStream random(3, 0);
  std::vector<Observation> rows;
  for (int i = 0; i < 60; ++i) {
    const Settings settings{10 * random.uniform(), 10 * random.uniform()};
    rows.push_back({settings, true, {{"y", hill(settings)}}});
  }
  const RecordedSystem system(problem, rows);
  CHECK(system.problem().only.size() == rows.size());
  ReplayOptions options;
  options.budgets = {8, 16};
  options.searches = 4;
  for (const Strategy strategy : {Strategy::kTune, Strategy::kOneShot}) {
    options.strategy = strategy;
    const Replayed replayed = replay(system, options);
    CHECK(replayed.budgets[1].failing() == 0);
    CHECK(replayed.budgets[1].quantile(0.5) > 0.9);
  }
}

TEST_CASE("what the region excludes is not of the system") {
  Problem problem = limited_problem();
  problem.region = problem.region.where([](const Settings& at) { return at[0] <= 4; }, "a <= 4");
  const RecordedSystem system(problem, hill_table());
  CHECK(system.size() == 5 * 11);
  CHECK(system.excluded() == 6 * 11);
  CHECK(system.worth({4, 4}) == 1);  // 7, 3 would be better
}

TEST_CASE("a table without a configuration that meets the limits is refused") {
  Problem problem = plane_problem();
  problem.objectives.push_back(at_most("latency", 0.5));
  CHECK_THROWS_AS(RecordedSystem(problem, {{{1, 1}, true, {{"y", 1}, {"latency", 2}}}}),
                  std::invalid_argument);
}

TEST_CASE("a search beats random settings, fails nowhere, and is the same on any threads") {
  const RecordedSystem system(limited_problem(), hill_table());
  ReplayOptions options;
  options.budgets = {8, 16};
  options.searches = 6;
  options.threads = 2;
  const Replayed tuned = replay(system, options);
  REQUIRE(tuned.budgets.size() == 2);
  CHECK(tuned.budgets[1].runs == 16);
  CHECK(tuned.budgets[1].failing() == 0);
  // How a compiler rounds decides which runs follow, and so how good the worst search is.
  CHECK(tuned.budgets[1].quantile(0.5) >= 0.95);
  CHECK(tuned.budgets[1].quantile(0) >= 0.9);

  options.threads = 1;
  const Replayed again = replay(system, options);
  CHECK(again.budgets[0].worth == tuned.budgets[0].worth);
  CHECK(again.runs_to_best == tuned.runs_to_best);

  options.strategy = Strategy::kRandom;
  const Replayed random = replay(system, options);
  CHECK(random.budgets[1].quantile(0.5) < tuned.budgets[1].quantile(0.5));
}

TEST_CASE("a search does not settle on the smooth part of a system with a nugget") {
  // Simulation: a flat hill, and 5 of standard deviation that no configuration shares with others.
  RandomStream random(5, 0);
  std::vector<Observation> rows = hill_table();
  for (Observation& row : rows) {
    const double own = 5 * surfaces::normal_draw(random.uniform());
    row = {row.settings, true, {{"y", 100 + 0.05 * (hill(row.settings) - 100) + own}}};
  }
  ReplayOptions options;
  options.budgets = {40};
  options.searches = 6;
  options.noise = 0.005;
  const Replayed tuned = replay(RecordedSystem(plane_problem(), rows), options);
  CHECK(tuned.budgets[0].quantile(0) >= 0.98);
}

TEST_CASE("a small budget is worth the same whatever larger ones it is compared with") {
  const RecordedSystem system(limited_problem(), hill_table());
  ReplayOptions options;
  options.searches = 3;
  options.budgets = {6};  // a start of 3 runs; 6 with 30
  const Replayed alone = replay(system, options);
  options.budgets = {6, 30};
  const Replayed both = replay(system, options);
  CHECK(both.budgets[0].worth == alone.budgets[0].worth);
}
