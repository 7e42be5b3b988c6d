// Trade-offs between goals, and what alternatives to the optimum gain and lose.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// Two responses with goals. `agreement` is the correlation of their costs (surfaces::cost) over
/// the Pareto front, or over the measured runs if the front is too short: -1 if either goal is
/// always met at the expense of the other.
struct GoalPair {
  const ResponseAnalysis* first = nullptr;
  const ResponseAnalysis* second = nullptr;
  double agreement = 0;
};

/// All pairs of responses with a goal and a surface, most conflicting first.
std::vector<GoalPair> goal_pairs(const Analysis& analysis);

/// Indices of the points of the Pareto front that are nondominated in these two goals, from the
/// best of the first goal to the best of the second.
std::vector<std::size_t> front_of(const Analysis& analysis, const GoalPair& pair);

/// An alternative in words, by its index in optimum->alternatives: "With a = 1 instead of 3:
/// latency better by 4 ± 1 ms, throughput worse by 20 ± 5 images/s."
std::string alternative_text(const Analysis& analysis, std::size_t alternative);

}  // namespace doetune::analysis
