#include "analysis/verdict.h"

#include "analysis/caveats.h"
#include "analysis/confirmation.h"
#include "analysis/fitted_runs.h"
#include "analysis/headline.h"
#include "analysis/next_step.h"
#include "analysis/today.h"

namespace doetune::analysis {
namespace {

constexpr std::size_t kMaxCaveats = 3;

Status status_of_optimum(const Analysis& analysis,
                         const std::optional<Confirmation>& confirmation) {
  if (!confirmation) return can_gain(analysis) ? Status::kUnconfirmed : Status::kNoGain;
  switch (confirmation->validation) {
    case Confirmation::Validation::kOpen:
      return Status::kUnconfirmed;
    case Confirmation::Validation::kConfirmed:
      return Status::kConfirmed;
    case Confirmation::Validation::kNotConfirmed:
      return Status::kNotConfirmed;
    case Confirmation::Validation::kInconclusive:
      return Status::kInconclusive;
    case Confirmation::Validation::kNoGain:
      break;
  }
  return Status::kNoGain;
}

Status status_of(const Analysis& analysis, const std::optional<Confirmation>& confirmation) {
  if (!any_fit(analysis) || FittedRuns(analysis).missing > 0) return Status::kPartial;
  if (!has_goal(analysis)) return Status::kNoGoals;
  if (!analysis.optimum) return Status::kPartial;
  const bool met = analysis.optimum->feasible && ends_out_of_reach(analysis).empty();
  return met ? status_of_optimum(analysis, confirmation) : Status::kInfeasible;
}

}  // namespace

std::string_view status_name(Status status) {
  switch (status) {
    case Status::kPartial:
      return "PARTIAL";
    case Status::kNoGoals:
      return "NO GOALS";
    case Status::kInfeasible:
      return "INFEASIBLE";
    case Status::kUnconfirmed:
      return "UNCONFIRMED";
    case Status::kConfirmed:
      return "CONFIRMED";
    case Status::kNotConfirmed:
      return "NOT CONFIRMED";
    case Status::kNoGain:
      return "NO GAIN";
    case Status::kInconclusive:
      return "INCONCLUSIVE";
  }
  return {};
}

Verdict verdict(const Analysis& analysis) {
  Verdict result;
  const std::optional<Confirmation> confirmation = confirmation_of(analysis);
  result.status = status_of(analysis, confirmation);
  const bool is_assessed =
      confirmation &&
      (result.status == Status::kConfirmed || result.status == Status::kNotConfirmed ||
       result.status == Status::kNoGain || result.status == Status::kInconclusive);
  result.headline =
      is_assessed ? confirmation_headline(*confirmation) : predicted_headline(analysis);
  result.caveats = caveats(analysis, confirmation);
  if (result.caveats.size() > kMaxCaveats) result.caveats.resize(kMaxCaveats);
  NextStep next = next_step(analysis, result.status, confirmation);
  result.next_command = std::move(next.command);
  result.next_reason = std::move(next.reason);
  return result;
}

}  // namespace doetune::analysis
