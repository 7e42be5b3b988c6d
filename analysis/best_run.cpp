#include "analysis/best_run.h"

#include <cmath>

namespace doetune::analysis {
namespace {

struct Score {
  double violation = 0;
  double log_desirability = 0;
  double value = 0;  ///< of the first response to maximize or minimize; higher is better
};

/// Breaks ties between runs with the same desirability.
double value_of(const Analysis& analysis, const study::RunRecord& record) {
  for (const study::Response& response : analysis.directory->study.responses) {
    const bool maximize = response.goal == doe::GoalType::kMaximize;
    if (!maximize && response.goal != doe::GoalType::kMinimize) continue;
    const auto value = record.responses.find(response.name);
    if (value != record.responses.end()) return maximize ? value->second : -value->second;
  }
  return 0;
}

std::optional<Score> score_of(const Analysis& analysis, const study::RunRecord& record) {
  Score score;
  for (const auto& [name, goal] : analysis.goals) {
    const auto value = record.responses.find(name);
    if (value == record.responses.end()) return std::nullopt;
    score.violation += goal.violation(value->second);
    score.log_desirability += goal.importance * std::log(goal.desirability(value->second));
  }
  score.value = value_of(analysis, record);
  return score;
}

bool is_better(const Score& score, const Score& than) {
  if (score.violation != than.violation) return score.violation < than.violation;
  if (score.log_desirability != than.log_desirability) {
    return score.log_desirability > than.log_desirability;
  }
  return score.value > than.value;
}

}  // namespace

std::optional<BestRun> best_measured_run(const Analysis& analysis) {
  if (analysis.goals.empty()) return std::nullopt;
  std::optional<BestRun> best;
  Score best_score;
  for (const auto& [run, record] : analysis.records) {
    if (record.status != study::RunStatus::kCompleted) continue;
    const auto score = score_of(analysis, record);
    if (!score) continue;
    if (best && !is_better(*score, best_score)) continue;
    best = BestRun{run, score->violation == 0};
    best_score = *score;
  }
  return best;
}

}  // namespace doetune::analysis
