#include "reports/best_run.h"

#include <cmath>

namespace doetune::reports {
namespace {

struct Score {
  double violation = 0;
  double log_desirability = 0;
};

std::optional<Score> score_of(const Analysis& analysis, const study::RunRecord& record) {
  Score score;
  for (const auto& [name, goal] : analysis.goals) {
    const auto value = record.responses.find(name);
    if (value == record.responses.end()) return std::nullopt;
    score.violation += goal.violation(value->second);
    score.log_desirability += goal.importance * std::log(goal.desirability(value->second));
  }
  return score;
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
    const bool is_better = score->violation < best_score.violation ||
                           (score->violation == best_score.violation &&
                            score->log_desirability > best_score.log_desirability);
    if (best && !is_better) continue;
    best = BestRun{run, score->violation == 0};
    best_score = *score;
  }
  return best;
}

}  // namespace doetune::reports
