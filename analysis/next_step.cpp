#include "analysis/next_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/fitted_runs.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/search_story.h"
#include "analysis/today.h"
#include "study/argument_template.h"

namespace doetune::analysis {
namespace {

/// Number of runs to add if the surfaces were wrong; at least those that the study's model lacks.
int runs_to_augment(const Analysis& analysis) {
  constexpr int kMin = 4, kSpare = 3;
  const int lacking =
      analysis.directory->study.model.column_count() + kSpare - analysis.completed();
  return std::max({kMin, 2 * static_cast<int>(factors_of(analysis).size()), lacking});
}

/// A command about this study.
std::string command(const Analysis& analysis, std::string_view name) {
  return fmt::format("doetune {} {}", name, study::shell_quoted(analysis.directory->path.string()));
}

NextStep augmented(const Analysis& analysis, std::string reason) {
  return {fmt::format("{} --runs {}", command(analysis, "augment"), runs_to_augment(analysis)),
          std::move(reason)};
}

/// More runs: of a search those that it chooses, with a larger budget.
NextStep more_runs(const Analysis& analysis, std::string reason) {
  const auto search = recorded_search(*analysis.directory);
  if (!search) return augmented(analysis, std::move(reason));
  const int made = std::max(search->budget, static_cast<int>(analysis.directory->plan.runs.size()));
  const char* name = analysis.directory->study.has_program() ? "tune" : "next";
  return {fmt::format("{} --budget {}", command(analysis, name), made + runs_to_augment(analysis)),
          std::move(reason)};
}

/// More runs where there are too few for surfaces. A search that has ended although runs were left
/// finds no others.
NextStep runs_for_surfaces(const Analysis& analysis) {
  const auto search = recorded_search(*analysis.directory);
  const auto planned = static_cast<int>(analysis.directory->plan.runs.size());
  if (search && !search->end.empty() && planned < search->budget) {
    return {"",
            "make a new study, with wider ranges or more levels: this search has ended although "
            "runs were left"};
  }
  return more_runs(analysis, "adds runs, so that surfaces can be fitted");
}

/// If no attempt has completed so far, further runs would fail in the same way: suggests a check.
NextStep next_of_partial(const Analysis& analysis) {
  const study::Study& study = analysis.directory->study;
  const FittedRuns runs(analysis);
  const bool in_vain = analysis.completed() == 0 && !analysis.records.empty();
  if (in_vain && study.has_program()) {
    return {command(analysis, "check"), "makes one run and shows what it prints"};
  }
  if (runs.missing > 0 && !study.has_program())
    return {command(analysis, "next"), "says which run to make"};
  if (runs.missing > 0 && recorded_search(*analysis.directory))
    return {command(analysis, "tune"),
            "makes the runs that are missing, and goes on with the search"};
  if (runs.missing > 0) return {command(analysis, "run"), "makes the runs that are missing"};
  if (analysis.measured) return runs_for_surfaces(analysis);
  if (runs.incomplete > 0) return {command(analysis, "status"), "shows why runs did not complete"};
  std::vector<std::string> without;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (response.surface() == nullptr) without.push_back(response.response.name);
  }
  return {"", fmt::format("measure {} so that a surface can be fitted, or remove {} from the study",
                          listed(without), without.size() == 1 ? "it" : "them")};
}

/// x rounded to four digits away from the reachable value, so that the limit can be met.
double rounded_limit(double x, bool up) {
  if (x == 0) return 0;
  const double step = std::pow(10, std::floor(std::log10(std::abs(x))) - 3);
  return (up ? std::ceil(x / step) : std::floor(x / step)) * step;
}

/// "latency=at_most:9.22": a limit that can be met while all others are kept; a placeholder if none
/// is known.
std::string reachable_goal(const Analysis& analysis) {
  constexpr const char* kWords = "RESPONSE=at_most:LIMIT";
  if (!analysis.details) return kWords;
  for (const surfaces::Relaxation& relaxation : analysis.details->relaxations) {
    const surfaces::Goal& missed = analysis.goals.at(relaxation.name);
    const bool at_most = std::isfinite(missed.high), at_least = std::isfinite(missed.low);
    if (!relaxation.feasible || at_most == at_least) continue;
    const doe::GoalType type = at_most ? doe::GoalType::kAtMost : doe::GoalType::kAtLeast;
    return fmt::format("{}={}:{:.4g}", relaxation.name, doe::word_of(type),
                       rounded_limit(relaxation.reachable, at_most));
  }
  return kWords;
}

NextStep next_of_infeasible(const Analysis& analysis) {
  return {fmt::format("{} --goal \"{}\"", command(analysis, "optimize"), reachable_goal(analysis)),
          "tries other limits on the same surfaces, without new runs"};
}

NextStep next_of_unconfirmed(const Analysis& analysis,
                             const std::optional<Confirmation>& confirmation) {
  if (confirmation && confirmation->missing == 0 && confirmation->completed > 0) {
    return augmented(analysis, "adds runs, from which the error of the surfaces is estimated");
  }
  // Without any polynomial a level never ran, and more runs would not help.
  const bool other_model = std::any_of(
      analysis.responses.begin(), analysis.responses.end(),
      [](const ResponseAnalysis& response) { return response.fallback && response.fit; });
  if (other_model && !confirmation) {
    return more_runs(analysis, "adds runs, so that the study's model can be fitted");
  }
  if (is_at_today(analysis)) {
    return augmented(analysis, "adds runs, which show whether other configurations are better");
  }
  const char* what = analysis.directory->study.has_program()
                         ? "runs this configuration again to validate the prediction"
                         : "says how often to run this configuration again, to validate the "
                           "prediction";
  return {command(analysis, "confirm"), what};
}

/// Suggests more runs if a measured mean meets its limit but its interval does not.
NextStep next_of_confirmed(const Analysis& analysis, const Confirmation& confirmation) {
  for (const ConfirmedResponse& response : confirmation.responses) {
    if (response.limit != LimitHeld::kOpen) continue;
    return {fmt::format("{} --runs {}", command(analysis, "confirm"), 2 * response.runs),
            fmt::format(
                "shows with more certainty whether {} meets its limit; or use this configuration",
                response.name)};
  }
  return {"", "use this configuration"};
}

NextStep next_of_inconclusive(const Analysis& analysis, const Confirmation& confirmation) {
  switch (*confirmation.doubt) {
    case Confirmation::Doubt::kFewRuns:
      return {command(analysis, "status"), "shows why runs did not complete"};
    case Confirmation::Doubt::kGain:
      return {fmt::format("{} --runs {}", command(analysis, "confirm"),
                          2 * confirmation.planned.confirmation.size()),
              "narrows the interval of the gain; or keep the baseline"};
    case Confirmation::Doubt::kRange:
      break;
  }
  return augmented(analysis, "adds runs, so that the surfaces predict more precisely");
}

NextStep next_of_not_confirmed(const Analysis& analysis, const Confirmation& confirmation) {
  if (confirmation.baseline_disagrees()) {
    return {command(analysis, "status"),
            "shows flags, drift and conditions. If they show a change, make a new plan once the "
            "system is steady; otherwise the surface is wrong, and `" +
                more_runs(analysis, "").command + "` adds runs"};
  }
  return more_runs(analysis, "adds runs and fits the surfaces again; or try another --surface");
}

}  // namespace

NextStep next_step(const Analysis& analysis, Status status,
                   const std::optional<Confirmation>& confirmation) {
  switch (status) {
    case Status::kPartial:
      return next_of_partial(analysis);
    case Status::kNoGoals:
      return {command(analysis, "optimize") + " --goal \"RESPONSE=maximize\"",
              "finds the best configuration for that goal"};
    case Status::kInfeasible:
      return next_of_infeasible(analysis);
    case Status::kUnconfirmed:
      return next_of_unconfirmed(analysis, confirmation);
    case Status::kNotConfirmed:
      return next_of_not_confirmed(analysis, *confirmation);
    case Status::kNoGain:
      return {"", "keep the baseline, or make a new plan with wider ranges or other factors"};
    case Status::kInconclusive:
      return next_of_inconclusive(analysis, *confirmation);
    case Status::kConfirmed:
      return next_of_confirmed(analysis, *confirmation);
  }
  return {};
}

}  // namespace doetune::analysis
