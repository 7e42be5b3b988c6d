#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>

#include "base/random.h"
#include "tests/tuning/systems.h"
#include "tuning/answer.h"
#include "tuning/hypervolume.h"
#include "tuning/proposal.h"
#include "tuning/start.h"

using namespace doetune;
using namespace doetune::tuning;

namespace {

Observation measured(const Settings& settings, double noise = 0) {
  return {settings, true, {{"y", hill(settings) + noise}}};
}

}  // namespace

TEST_CASE("a search finds the top of a smooth hill among 121 configurations in 14 runs") {
  const Problem problem = plane_problem();
  std::vector<Observation> so_far;
  for (const Settings& settings : start(problem, start_size(problem, 14))) {
    so_far.push_back(measured(settings));
  }
  while (so_far.size() < 14) {
    so_far.push_back(measured(next_runs(problem, so_far).front().settings));
  }
  const auto optimum = answer(problem, so_far);
  REQUIRE(optimum);
  CHECK(optimum->best.settings == Settings{7, 3});
}

// Bytes and operations a second are as large. A power of two changes no digit.
TEST_CASE("a search does not depend on the unit of a response") {
  for (const doe::GoalType type : {doe::GoalType::kMaximize, doe::GoalType::kMinimize}) {
    Problem problem = plane_problem();
    problem.objectives[0].goal.type = type;
    const double sign = type == doe::GoalType::kMaximize ? 1 : -1;
    const auto found = [&](double unit) {
      std::vector<Observation> so_far;
      const auto add = [&](const Settings& settings) {
        so_far.push_back({settings, true, {{"y", unit * (300 + sign * hill(settings))}}});
      };
      for (const Settings& settings : start(problem, start_size(problem, 14))) add(settings);
      std::vector<Settings> proposed;
      for (int i = 0; i < 4; ++i) {
        const Proposal next = next_runs(problem, so_far).front();
        CHECK(std::isfinite(next.gain.value()));
        proposed.push_back(next.settings);
        add(next.settings);
      }
      return proposed;
    };
    CHECK(found(std::exp2(60)) == found(1));
  }
}

TEST_CASE("the answer has been run, also where more is expected elsewhere") {
  const Problem problem = plane_problem();
  std::vector<Observation> so_far;
  for (const Settings& settings : start(problem, 6)) so_far.push_back(measured(settings));
  const auto optimum = answer(problem, so_far);
  REQUIRE(optimum);
  const auto best = best_measured(problem, so_far);
  CHECK(optimum->best.settings == so_far[*best].settings);
  CHECK(next_runs(problem, so_far).front().gain.value() > 0.01);
}

TEST_CASE("a limited response that never varies, and a factor that cannot, do not stop a search") {
  Problem problem = plane_problem();
  problem.region =
      problem.region.where([](const Settings& settings) { return settings[0] == 7; }, "a = 7");
  problem.objectives.push_back(at_most("errors", 0.01));
  std::vector<Observation> so_far;
  const auto add = [&](const Settings& settings) {
    so_far.push_back(measured(settings));
    so_far.back().values["errors"] = 0;
  };
  for (const Settings& settings : start(problem, 4)) add(settings);
  while (so_far.size() < 8) {
    const Proposal next = next_runs(problem, so_far).front();
    CHECK_FALSE(next.explores);
    CHECK(next.meets_limits > 0.99);
    add(next.settings);
  }
  const auto optimum = answer(problem, so_far);
  REQUIRE(optimum);
  CHECK(optimum->best.settings == Settings{7, 3});
}

TEST_CASE("what is under way is not proposed, and learnt from as if it measured what is expected") {
  const Problem problem = plane_problem();
  std::vector<Observation> so_far;
  for (const Settings& settings : start(problem, 8)) so_far.push_back(measured(settings));
  const auto batch = next_runs(problem, so_far, 3);
  const auto third = next_runs(problem, so_far, 1, {batch[0].settings, batch[1].settings}).front();
  CHECK(third.settings == batch[2].settings);
}

TEST_CASE("the baseline is run first") {
  Problem problem = plane_problem();
  problem.factors[0].baseline = 4;
  problem.factors[1].baseline = 9;
  const std::vector<Settings> first = start(problem, 6);
  REQUIRE(first.size() == 6);
  CHECK(first.front() == Settings{4, 9});
  CHECK(std::set<Settings>(first.begin(), first.end()).size() == 6);
}

TEST_CASE("a start takes at most half of the runs, and at least one") {
  const Problem problem = plane_problem();
  CHECK(start_size(problem, 100) == 6);
  CHECK(start_size(problem, 8) == 4);
  CHECK(start_size(problem, 1) == 1);
}

TEST_CASE("no proposal is outside the region, and none has been infeasible") {
  Problem problem = plane_problem();
  problem.region = problem.region.where(
      [](const Settings& settings) { return settings[0] + settings[1] <= 12; }, "a + b <= 12");
  // Memory suffices where a is at most 5, which the search has to learn: the hill's top is beyond.
  for (const std::uint64_t seed : {1, 2}) {
    RandomStream random(seed, 0);
    problem.seed = seed;
    std::vector<Observation> so_far;
    std::set<Settings> infeasible;
    const auto run = [&](const Settings& settings) {
      CHECK(problem.region.allows(settings));
      CHECK_FALSE(infeasible.contains(settings));
      if (settings[0] > 5) {
        infeasible.insert(settings);
        so_far.push_back({settings, false, {}});
      } else {
        so_far.push_back(measured(settings, random.uniform()));
      }
    };
    for (const Settings& settings : start(problem, 6)) run(settings);
    while (so_far.size() < 21) {
      const auto proposals = next_runs(problem, so_far, 3);
      REQUIRE(proposals.size() == 3);
      for (const Proposal& proposal : proposals) {
        CHECK(proposal.completes >= 0);
        CHECK(proposal.completes <= 1);
        run(proposal.settings);
      }
    }
    const auto optimum = answer(problem, so_far);
    REQUIRE(optimum);
    CHECK(optimum->best.settings[0] <= 5);
    CHECK(hill(optimum->best.settings) >= 93);  // of 95 at a = 5, b = 3 or 4
  }
}

TEST_CASE("settings that meet a limit are sought before better ones") {
  Problem problem = plane_problem();
  problem.objectives.push_back(at_most("latency", 2.5));  // of a: where the hill is low
  const auto run = [](const Settings& settings) {
    return Observation{settings, true, {{"y", hill(settings)}, {"latency", settings[0]}}};
  };
  std::vector<Observation> so_far;
  for (const Settings& settings : {Settings{5, 5}, {6, 2}, {10, 0}, {8, 9}, {4, 8}, {9, 4}}) {
    so_far.push_back(run(settings));
  }
  const Proposal first = next_runs(problem, so_far).front();
  CHECK_FALSE(first.gain);
  CHECK(first.settings[0] <= 2);
  while (so_far.size() < 14) {
    so_far.push_back(run(next_runs(problem, so_far).front().settings));
  }
  const auto optimum = answer(problem, so_far);
  REQUIRE(optimum);
  CHECK(optimum->best.settings[0] == 2);
}

TEST_CASE("where no settings can meet a limit, none is run twice, and the nearest are among them") {
  // Of a, so that a = 0 is nearest. The probabilities to meet the limit are 0 in floating point.
  const double sign = GENERATE(1, -1);
  Problem problem = plane_problem();
  Objective limit = at_most("latency", -1e4);
  if (sign < 0) {
    limit = objective("latency", doe::GoalType::kAtLeast);
    limit.goal.low = 1e4;
  }
  problem.objectives.push_back(limit);
  const auto run = [&](const Settings& settings) {
    return Observation{settings, true, {{"y", hill(settings)}, {"latency", sign * settings[0]}}};
  };
  std::vector<Observation> so_far;
  for (const Settings& settings : {Settings{5, 5}, {6, 2}, {10, 0}, {8, 9}, {4, 8}, {9, 4}}) {
    so_far.push_back(run(settings));
  }
  std::set<Settings> proposed;
  for (int i = 0; i < 5; ++i) {
    const Settings next = next_runs(problem, so_far).front().settings;
    CHECK(proposed.insert(next).second);
    so_far.push_back(run(next));
  }
  CHECK((*proposed.begin())[0] == 0);
}

TEST_CASE("where no settings can meet a limit, all are run before any is repeated") {
  Problem problem = plane_problem();
  problem.factors = {levels_factor("a", {0, 5, 10}), levels_factor("b", {0, 5, 10})};
  problem.region = doe::Region(problem.factors, {}, {});
  problem.objectives.push_back(at_most("latency", -100));
  std::vector<Observation> so_far;
  std::set<Settings> run;
  const auto measure = [&](const Settings& settings) {
    const double noise = so_far.size() % 2 == 0 ? 1 : -1;
    so_far.push_back(
        {settings, true, {{"y", hill(settings)}, {"latency", 10 * settings[0] + noise}}});
    run.insert(settings);
  };
  // The nearest to the limit have been run: a repeat of them would be likelier to meet it.
  for (const Settings& settings : {Settings{0, 0}, {0, 5}, {0, 10}, {10, 0}, {10, 10}}) {
    measure(settings);
  }
  while (so_far.size() < 9) measure(next_runs(problem, so_far).front().settings);
  CHECK(run.size() == 9);
}

TEST_CASE("a search goes on where a model cannot be fitted, and ends with the last configuration") {
  Problem problem = plane_problem();
  SECTION("constant responses") {
    std::vector<Observation> so_far{{{0, 0}, true, {{"y", 1}}}, {{5, 5}, true, {{"y", 1}}}};
    for (int i = 0; i < 6; ++i) {
      const auto next = next_runs(problem, so_far);
      REQUIRE(next.size() == 1);
      so_far.push_back({next.front().settings, true, {{"y", 1}}});
    }
  }
  SECTION("no run yet, and none that completes") {
    std::vector<Observation> so_far;
    for (int i = 0; i < 6; ++i) {
      const auto next = next_runs(problem, so_far);
      REQUIRE(next.size() == 1);
      so_far.push_back({next.front().settings, false, {}});
    }
    CHECK_FALSE(answer(problem, so_far));
  }
  SECTION("a factor with one level") {
    problem.factors[1] = levels_factor("b", {3, 4});
    problem.region =
        problem.region.where([](const Settings& settings) { return settings[1] == 3; }, "b = 3");
    std::vector<Observation> so_far{measured({0, 3}), measured({10, 3}), measured({5, 3})};
    for (int i = 0; i < 6; ++i) {
      so_far.push_back(measured(next_runs(problem, so_far).front().settings));
    }
    CHECK(so_far.size() == 9);
  }
  SECTION("all that can be run was infeasible") {
    problem.factors = {levels_factor("a", {0, 1}), levels_factor("b", {0, 1})};
    problem.region = doe::Region(problem.factors, {}, {});
    std::vector<Observation> so_far;
    for (const Settings& settings : {Settings{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
      so_far.push_back({settings, false, {}});
    }
    CHECK(next_runs(problem, so_far).empty());
  }
}

TEST_CASE("the same runs lead to the same proposal") {
  const Problem problem = plane_problem();
  std::vector<Observation> so_far;
  for (const Settings& settings : start(problem, 6)) so_far.push_back(measured(settings));
  const Settings next = next_runs(problem, so_far).front().settings;
  CHECK(next_runs(problem, so_far).front().settings == next);
}

TEST_CASE("a search for the front covers more of it than one for the best compromise") {
  // Two hills: what lies between their tops is the front.
  const auto second = [](const Settings& settings) { return hill({settings[1], settings[0]}); };
  const auto run = [&](const Settings& settings) {
    return Observation{settings, true, {{"y", hill(settings)}, {"z", second(settings)}}};
  };
  const auto volume_of = [&](bool front) {
    Problem problem = plane_problem();
    problem.objectives.push_back(objective("z", doe::GoalType::kMaximize));
    problem.front = front;
    std::vector<Observation> so_far;
    for (const Settings& settings : start(problem, 6)) so_far.push_back(run(settings));
    while (so_far.size() < 18) {
      const Proposal next = next_runs(problem, so_far).front();
      REQUIRE(next.gain);
      so_far.push_back(run(next.settings));
    }
    std::vector<std::vector<double>> points;
    for (const Observation& one : so_far) {
      points.push_back({one.values.at("y") - 40, one.values.at("z") - 40});
    }
    return Front(points).volume();
  };
  CHECK(volume_of(true) > volume_of(false));
}

TEST_CASE("among more settings than can be listed a search looks around its best runs") {
  // 101^4 settings: the grid of candidates has steps of a ninth of the range and more.
  Problem problem;
  for (const char* name : {"a", "b", "c", "d"}) {
    problem.factors.emplace_back();
    problem.factors.back().name = name;
  }
  problem.region = doe::Region(problem.factors, {}, {});
  problem.objectives = {objective("y", doe::GoalType::kMaximize)};
  problem.infeasible_when.resize(4);
  const auto y = [](const Settings& settings) {
    double sum = 0;
    for (const double setting : settings) sum += (setting - 0.37) * (setting - 0.37);
    return 100 - 100 * sum;
  };
  std::vector<Observation> so_far;
  double best = -1e9;
  const auto run = [&](const Settings& settings) {
    so_far.push_back({settings, true, {{"y", y(settings)}}});
    best = std::max(best, y(settings));
  };
  for (const Settings& settings : start(problem, 10)) run(settings);
  while (so_far.size() < 24) run(next_runs(problem, so_far).front().settings);
  CHECK(best > 99);
}

TEST_CASE("a search among eight continuous factors comes near the top in 45 runs") {
  Problem problem;
  for (int f = 0; f < 8; ++f) {
    doe::Factor factor;
    factor.name = std::string(1, static_cast<char>('a' + f));
    factor.low = 0;
    problem.factors.push_back(factor);
  }
  problem.region = doe::Region(problem.factors, {}, {});
  problem.objectives = {objective("y", doe::GoalType::kMaximize)};
  problem.infeasible_when.resize(8);
  const auto missing = [](const Settings& settings) {
    double sum = 0;
    for (std::size_t f = 0; f < 8; ++f) {
      sum += static_cast<double>(f + 1) * std::pow(settings[f] - 0.37, 2);
    }
    return sum;
  };
  std::vector<Observation> so_far;
  double least = 10;
  const auto run = [&](const Settings& settings) {
    so_far.push_back({settings, true, {{"y", 10 - missing(settings)}}});
    least = std::min(least, missing(settings));
  };
  for (const Settings& settings : start(problem, start_size(problem, 100))) run(settings);
  while (so_far.size() < 45) run(next_runs(problem, so_far).front().settings);
  CHECK(least < 0.05);  // of 0 to 18; settings are multiples of 0.01
}

TEST_CASE("where noise decides between configurations, they are repeated") {
  Problem problem = plane_problem();
  problem.factors = {levels_factor("a", {0, 1, 2})};
  problem.region = doe::Region(problem.factors, {}, {});
  problem.infeasible_when.resize(1);
  std::vector<Observation> so_far;
  for (const auto& [a, y] :
       {std::pair(0.0, 10.9), {1.0, 9.8}, {2.0, 5.0}, {0.0, 9.2}, {1.0, 11.1}, {2.0, 5.2}}) {
    so_far.push_back({{a}, true, {{"y", y}}});
  }
  const Proposal next = next_runs(problem, so_far).front();
  CHECK(next.settings[0] < 2);
}
