#include <catch2/catch.hpp>

#include "surfaces/goal.h"

using namespace doetune::surfaces;

TEST_CASE("Ramps are those of Derringer and Suich", "[surfaces][goal]") {
  // Derringer & Suich (1980): one-sided ((y - low) / (high - low))^weight, clipped.
  Goal goal{GoalType::kMaximize, 10, 20};
  CHECK(goal.desirability(5) == 0);
  CHECK(goal.desirability(15) == 0.5);
  CHECK(goal.desirability(25) == 1);
  goal.weight = 2;
  CHECK(goal.desirability(15) == 0.25);
  goal = {GoalType::kMinimize, 10, 20};
  CHECK(goal.desirability(12.5) == 0.75);
  goal = {GoalType::kTarget, 10, 30, 20};
  CHECK(goal.desirability(20) == 1);
  CHECK(goal.desirability(15) == 0.5);
  CHECK(goal.desirability(27.5) == 0.25);
  CHECK(goal.desirability(31) == 0);
  CHECK(goal.violation(31) == 0);
}

TEST_CASE("Limits are met or violated by a measured amount", "[surfaces][goal]") {
  Goal goal{GoalType::kWithin, 1800, 2500};
  goal.scale = 1000;
  CHECK(goal.is_met(1800));
  CHECK(goal.is_met(2500));
  CHECK_FALSE(goal.is_met(2501));
  CHECK(goal.violation(2000) == 0);
  CHECK(goal.violation(2600) == 0.1);
  CHECK(goal.violation(1700) == 0.1);
  CHECK(goal.desirability(2000) == 1);
  CHECK(goal.desirability(2600) == 0.9);
  goal.type = GoalType::kAtMost;
  CHECK(goal.is_met(-1e9));
  goal.type = GoalType::kAtLeast;
  CHECK(goal.is_met(1e9));
}

TEST_CASE("The worst response misses a ramp whose end was stated, and no other",
          "[surfaces][goal]") {
  for (const auto& [type, worst] :
       {std::pair(GoalType::kMaximize, 10.0), {GoalType::kMinimize, 20.0}}) {
    Goal open{type}, stated{type, 10, 20};
    open.close(10, 20);
    stated.close(0, 30);
    CHECK(open.desirability(worst) == 0);
    CHECK(open.is_met(worst));
    CHECK_FALSE(stated.is_met(worst));
    CHECK(stated.is_met(15));
  }
  Goal target{GoalType::kTarget, 10, 20, 15};
  target.close(0, 30);
  CHECK_FALSE(target.is_met(10));
}

TEST_CASE("How far a ramp is missed or passed is measured in its width", "[surfaces][goal]") {
  Goal goal{GoalType::kMaximize, 10, 20};
  CHECK(goal.shortfall(5) == 0.5);
  CHECK(goal.shortfall(15) == 0);
  CHECK(goal.excess(15) == 0);
  CHECK(goal.excess(25) == 0.5);
  goal.type = GoalType::kMinimize;
  CHECK(goal.shortfall(25) == 0.5);
  CHECK(goal.excess(5) == 0.5);
  goal = {GoalType::kTarget, 10, 30, 20};
  CHECK(goal.shortfall(0) == 0.5);
  CHECK(goal.shortfall(40) == 0.5);
  CHECK(goal.excess(20) == 0);
  goal.type = GoalType::kAtLeast;
  CHECK(goal.shortfall(0) == 0);
}
