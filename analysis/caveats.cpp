#include "analysis/caveats.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "analysis/fitted_runs.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/run_quality.h"
#include "analysis/trust.h"

namespace doetune::analysis {
namespace {

void add_run_caveats(const Analysis& analysis, std::vector<std::string>& caveats) {
  const FittedRuns runs(analysis);
  if (runs.missing > 0) {
    caveats.push_back(fmt::format("{} of {} planned runs {} not been made{}.", runs.missing,
                                  runs.planned, runs.missing == 1 ? "has" : "have",
                                  any_fit(analysis) ? ": the answer can still change" : ""));
  }
  if (runs.incomplete > 0) {
    caveats.push_back(
        fmt::format("{} did not complete and {} left out of the fits; see Runs in the report.",
                    count_of(runs.incomplete, "run"), runs.incomplete == 1 ? "is" : "are"));
  }
  if (runs.ended_early > 0) {
    caveats.push_back(fmt::format(
        "{} ended early as clearly worse than the best: Gaussian processes take {} as censored, "
        "other surfaces leave {} out.",
        count_of(runs.ended_early, "run"), runs.ended_early == 1 ? "it" : "them",
        runs.ended_early == 1 ? "it" : "them"));
  }
}

/// Flags of so many runs that repeated measurements would be affected as well.
void add_flag_caveat(const Analysis& analysis, std::vector<std::string>& caveats) {
  for (const RunsAlike& flag : runs_by_flag(analysis.records)) {
    if (!is_of_many(flag, analysis.records)) continue;
    caveats.push_back(fmt::format("{} of {} runs are flagged: {}. Fix the cause and measure again.",
                                  flag.runs.size(), analysis.completed(), flag.what));
    return;
  }
}

/// "The surfaces of a (x) and b (y) miss ..."; adds nothing if `named` is empty.
void add_about_surfaces(const std::vector<std::string>& named, std::string_view of_one,
                        std::string_view of_several, std::vector<std::string>& caveats) {
  if (named.empty()) return;
  caveats.push_back(fmt::format("The {} of {} {}.", named.size() == 1 ? "surface" : "surfaces",
                                listed(named), named.size() == 1 ? of_one : of_several));
}

/// Surfaces smaller than the study's model, grouped by the model that was fitted.
void add_fallback_caveats(const Analysis& analysis, std::vector<std::string>& caveats) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> named;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (!response.fallback) continue;
    named[{response.fallback->model, response.fallback->reason}].push_back(response.response.name);
  }
  for (const auto& [fallback, responses] : named) {
    caveats.push_back(
        fmt::format("A different model from the one planned is fitted to {} ({}): {}.",
                    listed(responses), fallback.first, fallback.second));
  }
}

/// Surfaces that need care, grouped by the kind of problem.
void add_fit_caveats(const Analysis& analysis, std::vector<std::string>& caveats) {
  if (!any_fit(analysis) && FittedRuns(analysis).missing > 0) return;  // runs are pending
  std::vector<std::string> poor, lacking, rough, processes, others;
  for (const ResponseAnalysis& response : analysis.responses) {
    const std::string& name = response.response.name;
    if (response.surface() == nullptr) {
      caveats.push_back(fmt::format("{} has no fit: {}.", name, response.problem));
      continue;
    }
    const Trust assessed = trust(response);
    if (assessed.level == Trust::Level::kGood) continue;
    if (!assessed.predicted_r2) {
      others.push_back(name + ": " + assessed.sentence);
      continue;
    }
    const std::string r2 =
        fmt::format("{} (predicted R² {})", name, r2_text(*assessed.predicted_r2));
    if (assessed.level == Trust::Level::kPoor) poor.push_back(r2);
    if (assessed.predicts_roughly()) rough.push_back(r2);
    if (response.process_r2) {
      processes.push_back(fmt::format("{} (predicted R² {})", name, r2_text(*response.process_r2)));
    }
    if (assessed.lack_of_fit_p) {
      lacking.push_back(fmt::format("{} ({})", name, p_words(*assessed.lack_of_fit_p)));
    }
  }
  add_about_surfaces(poor, "predicts new runs poorly", "predict new runs poorly", caveats);
  add_about_surfaces(
      lacking, "shows lack of fit: its error is larger than the scatter of replicated runs",
      "show lack of fit: their errors are larger than the scatter of replicated runs", caveats);
  add_about_surfaces(rough, "predicts new runs only roughly", "predict new runs only roughly",
                     caveats);
  if (!processes.empty()) {
    caveats.push_back(
        fmt::format("A Gaussian process predicts new runs better for {}: add "
                    "--surface auto, or fit: {{surface: auto}} in the study file.",
                    listed(processes)));
  }
  caveats.insert(caveats.end(), others.begin(), others.end());
}

/// Targets that no run of the optimum is likely to reach.
void add_missed_targets(const Analysis& analysis, std::vector<std::string>& caveats) {
  if (!analysis.optimum || !analysis.optimum->feasible) return;
  for (const surfaces::ResponsePrediction& predicted : analysis.optimum->best.predictions) {
    const surfaces::Goal* goal = goal_of(analysis, predicted.name);
    const auto& next_run = predicted.prediction_interval;
    if (goal == nullptr || goal->type != surfaces::GoalType::kTarget || !next_run) continue;
    if (next_run->low <= goal->target && goal->target <= next_run->high) continue;
    const double missed = std::abs(predicted.expected.value_or(predicted.mean) - goal->target);
    const std::string& unit = unit_of(analysis, predicted.name);
    caveats.push_back(fmt::format("{} is predicted to miss its target of {} by {}.", predicted.name,
                                  with_unit(exact_number(goal->target), unit),
                                  with_unit(number_to(missed, half_width(next_run)), unit)));
  }
}

void add_optimum_caveats(const Analysis& analysis, std::vector<std::string>& caveats) {
  if (analysis.measured && any_fit(analysis)) {  // otherwise the missing fits are the reason
    caveats.push_back(fmt::format("There is no optimum: {}.", analysis.measured->reason));
  }
  if (!analysis.optimum || !analysis.optimum->feasible) return;
  if (analysis.optimum->at_bound.empty()) return;
  constexpr std::size_t kMaxNames = 8;
  std::vector<std::string> names = analysis.optimum->at_bound;
  if (names.size() > kMaxNames + 1) {
    const std::size_t more = names.size() - kMaxNames;
    names.resize(kMaxNames);
    names.push_back(fmt::format("{} more factors", more));
  }
  const bool one = names.size() == 1;
  caveats.push_back(
      fmt::format("The best {} of {} {}: better settings may lie outside. If the system allows "
                  "more, widen {} in a copy of the study file.",
                  one ? "setting" : "settings", listed(names),
                  one ? "lies at the end of its range" : "lie at the ends of their ranges",
                  one ? "it" : "them"));
}

}  // namespace

std::vector<std::string> caveats(const Analysis& analysis,
                                 const std::optional<Confirmation>& confirmation) {
  std::vector<std::string> all;
  add_missed_targets(analysis, all);
  add_run_caveats(analysis, all);
  add_flag_caveat(analysis, all);
  for (std::string& caveat : confirmation_caveats(analysis, confirmation)) {
    all.push_back(std::move(caveat));
  }
  add_fallback_caveats(analysis, all);
  add_fit_caveats(analysis, all);
  add_optimum_caveats(analysis, all);
  return all;
}

}  // namespace doetune::analysis
