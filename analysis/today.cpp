#include "analysis/today.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/failed_runs.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/run_quality.h"
#include "analysis/trust.h"
#include "doe/design.h"
#include "surfaces/optimum/confirmation.h"

namespace doetune::analysis {

bool is_at_today(const Analysis& analysis) {
  const auto today = surfaces::baseline_of(factors_of(analysis));
  return today && analysis.optimum && analysis.optimum->best.settings == *today;
}

bool can_gain(const Analysis& analysis) {
  const bool indifferent = analysis.details && analysis.details->indifferent;
  const bool unknown = std::any_of(analysis.responses.begin(), analysis.responses.end(),
                                   [&](const ResponseAnalysis& response) {
                                     return goal_of(analysis, response.response.name) != nullptr &&
                                            trust(response).level == Trust::Level::kPoor;
                                   });
  return !indifferent && (unknown || !is_at_today(analysis));
}

bool baseline_cannot_run(const Analysis& analysis) {
  const auto today = surfaces::baseline_of(factors_of(analysis));
  if (!today) return false;
  const std::vector<study::PlannedRun>& runs = analysis.directory->plan.runs;
  const bool any_completed =
      std::any_of(analysis.records.begin(), analysis.records.end(), [&](const auto& entry) {
        return entry.second.status == study::RunStatus::kCompleted &&
               runs[static_cast<std::size_t>(entry.first - 1)].settings == *today;
      });
  return !any_completed && has_been_infeasible(analysis.directory->plan, analysis.records, *today);
}

std::string left_out_without_baseline(const Analysis& analysis) {
  if (baseline_cannot_run(analysis)) {
    return "The baseline cannot run (its runs were infeasible), so there is no gain over it.";
  }
  std::vector<std::string> without;
  for (const doe::Factor& factor : factors_of(analysis)) {
    if (!factor.baseline) without.push_back(factor.name);
  }
  if (without.empty()) return "";
  return fmt::format(
      "No baseline is set for {}, so the gain over the settings in use today can be neither "
      "predicted nor measured in confirmation runs.",
      without.size() == factors_of(analysis).size() ? "the factors" : listed(without));
}

std::optional<MeasuredToday> measured_today(const Analysis& analysis,
                                            const ResponseAnalysis& response) {
  const auto today = surfaces::baseline_of(factors_of(analysis));
  if (!today || response.surface() == nullptr) return std::nullopt;
  std::vector<int> runs;
  for (const study::PlannedRun& run : analysis.directory->plan.runs) {
    if (!run.validates() && run.settings == *today) runs.push_back(run.run);
  }
  const std::vector<double> values =
      measured_values(analysis.records, runs, response.response.name);
  if (values.empty()) return std::nullopt;
  const auto predicted =
      response.surface()->predict(doe::coded_point(factors_of(analysis), *today));
  return MeasuredToday{surfaces::measured_mean(predicted.transform, values),
                       static_cast<int>(values.size())};
}

}  // namespace doetune::analysis
