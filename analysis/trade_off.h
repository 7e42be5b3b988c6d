// What one goal costs another: which goals are at odds, and what other settings cost and save.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// Two responses with goals. `agreement` is the correlation of what the goals make of them
/// (surfaces::cost) over the Pareto front, or where that is too short over the measured runs:
/// -1 where one goal is always had at the other's expense.
struct GoalPair {
  const ResponseAnalysis* first = nullptr;
  const ResponseAnalysis* second = nullptr;
  double agreement = 0;
};

/// All pairs of responses with a goal and a surface, most at odds first.
std::vector<GoalPair> goal_pairs(const Analysis& analysis);

/// The points of the Pareto front that are not beaten in these two goals, by index, from the best
/// of the first goal to the best of the second.
std::vector<std::size_t> front_of(const Analysis& analysis, const GoalPair& pair);

/// An alternative in words, by its place in optimum->alternatives: "With a = 1 instead of 3:
/// latency better by 4 ± 1 ms, throughput worse by 20 ± 5 images/s."
std::string alternative_text(const Analysis& analysis, std::size_t alternative);

}  // namespace doetune::analysis
