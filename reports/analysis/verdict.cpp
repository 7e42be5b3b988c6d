#include "reports/analysis/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/analysis/confirmation.h"
#include "reports/analysis/run_quality.h"
#include "reports/analysis/slice.h"
#include "reports/analysis/trust.h"
#include "reports/format.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMostCaveats = 3;

/// The runs that surfaces are fitted to, by what became of them.
struct FittedRuns {
  int planned = 0;
  int missing = 0;
  int incomplete = 0;

  explicit FittedRuns(const Analysis& analysis) {
    for (const study::PlannedRun& run : analysis.directory->plan.runs) {
      if (run.judges()) continue;
      const auto record = analysis.records.find(run.run);
      ++planned;
      if (record == analysis.records.end()) {
        ++missing;
      } else if (record->second.status != study::RunStatus::kCompleted) {
        ++incomplete;
      }
    }
  }
};

bool any_fit(const Analysis& analysis) {
  return std::any_of(analysis.responses.begin(), analysis.responses.end(),
                     [](const ResponseAnalysis& response) { return response.fit.has_value(); });
}

bool has_goal(const Analysis& analysis) {
  return !analysis.goals.empty() ||
         std::any_of(analysis.responses.begin(), analysis.responses.end(),
                     [](const ResponseAnalysis& response) {
                       return response.response.goal != study::GoalKind::kNone;
                     });
}

/// "the low end of throughput (9000 images/s)": the end that every ramp at 0 falls short of.
std::vector<std::string> ends_out_of_reach(const Analysis& analysis) {
  std::vector<std::string> ends;
  for (const surfaces::Outlook& outlook : analysis.optimum->best.outlooks) {
    const auto found = analysis.goals.find(outlook.name);
    if (found == analysis.goals.end() || found->second.is_limit() || outlook.goal_met) continue;
    const surfaces::Goal& goal = found->second;
    const bool below = goal.type == surfaces::GoalType::kMaximize ||
                       (goal.type == surfaces::GoalType::kTarget && outlook.mean <= goal.low);
    ends.push_back(
        fmt::format("the {} end of {} ({})", below ? "low" : "high", outlook.name,
                    with_unit(short_number(below ? goal.low : goal.high),
                              analysis.directory->study.find_response(outlook.name)->unit)));
  }
  return ends;
}

Status status_of(const std::optional<Confirmation>& confirmation) {
  if (!confirmation) return Status::kUnconfirmed;
  switch (confirmation->judgement) {
    case Confirmation::Judgement::kOpen:
      return Status::kUnconfirmed;
    case Confirmation::Judgement::kConfirmed:
      return Status::kConfirmed;
    case Confirmation::Judgement::kNotConfirmed:
      return Status::kNotConfirmed;
    case Confirmation::Judgement::kNoGain:
      break;
  }
  return Status::kNoGain;
}

Status status_of(const Analysis& analysis, const std::optional<Confirmation>& confirmation) {
  if (!any_fit(analysis) || FittedRuns(analysis).missing > 0) return Status::kPartial;
  if (!has_goal(analysis)) return Status::kNoGoals;
  if (!analysis.optimum) return Status::kPartial;
  const bool met = analysis.optimum->feasible && ends_out_of_reach(analysis).empty();
  return met ? status_of(confirmation) : Status::kInfeasible;
}

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names) {
  if (names.size() < 2) return names.empty() ? "" : names.front();
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::vector<std::string> missed_goals(const Analysis& analysis) {
  std::vector<std::string> names;
  for (const surfaces::Outlook& outlook : analysis.optimum->best.outlooks) {
    if (!outlook.goal_met) names.push_back(outlook.name);
  }
  return names;
}

/// "the best throughput (218 images/s)", "the best compromise of a and b"; empty without ramps.
std::string best_of_ramps(const Analysis& analysis) {
  std::vector<std::string> names;
  std::string value;
  for (const surfaces::Outlook& outlook : analysis.optimum->best.outlooks) {
    const auto goal = analysis.goals.find(outlook.name);
    if (goal == analysis.goals.end() || goal->second.is_limit()) continue;
    names.push_back(outlook.name);
    value = with_unit(short_number(outlook.mean),
                      analysis.directory->study.find_response(outlook.name)->unit);
  }
  if (names.empty()) return "";
  if (names.size() == 1) return fmt::format("the best {} ({})", names.front(), value);
  return "the best compromise of " + listed(names);
}

std::vector<std::string> limited_responses(const Analysis& analysis) {
  std::vector<std::string> names;
  for (const auto& [name, goal] : analysis.goals) {
    if (goal.is_limit()) names.push_back(name);
  }
  return names;
}

std::string limits_text(const std::vector<std::string>& limited) {
  if (limited.size() == 1) return "the goal of " + limited.front();
  return limited.size() == 2 ? "both goals" : fmt::format("all {} goals", limited.size());
}

/// In a sentence: "73 %", "more than 99 %", "less than 1 %".
std::string probability_words(double probability) {
  const std::string text = percent(probability);
  if (text.starts_with("> ")) return "more than " + text.substr(2);
  return text.starts_with("< ") ? "less than " + text.substr(2) : text;
}

std::string optimum_headline(const Analysis& analysis) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  if (!optimum.feasible) {
    return fmt::format(
        "No usable settings are predicted to meet every goal; the settings below come nearest and "
        "miss {}.",
        listed(missed_goals(analysis)));
  }
  const std::vector<std::string> out_of_reach = ends_out_of_reach(analysis);
  if (!out_of_reach.empty()) {
    return fmt::format(
        "No usable settings are predicted to reach {}{}; the settings below come nearest.",
        listed(out_of_reach), analysis.goals.size() > 1 ? " together with the other goals" : "");
  }
  const std::vector<std::string> limited = limited_responses(analysis);
  const std::string best = best_of_ramps(analysis);
  if (limited.empty()) return fmt::format("These settings are predicted to give {}.", best);
  std::string text =
      best.empty()
          ? fmt::format("These settings are predicted to meet {} on average", limits_text(limited))
          : fmt::format(
                "These settings are predicted to give {} among those that keep to the "
                "{} on {}",
                best, limited.size() == 1 ? "limit" : "limits", listed(limited));
  if (optimum.best.all_goals_met_probability) {
    text += fmt::format("; a single run {} with a probability of {}",
                        limited.size() == 1 ? "meets it" : "meets them",
                        probability_words(*optimum.best.all_goals_met_probability));
  }
  return text + ".";
}

std::string headline(const Analysis& analysis) {
  const int done = analysis.completed();
  if (!any_fit(analysis)) {
    return done == 0 ? "No run has completed yet, so there is nothing to predict from."
                     : fmt::format("{} completed; that is not enough to fit the model.",
                                   count_of(done, "run"));
  }
  if (!has_goal(analysis)) {
    return "The surfaces are fitted, but the study sets no goal, so no settings are best. Explore "
           "the surfaces below, or give a response a goal.";
  }
  if (!analysis.optimum) {
    return "There is no optimum: " +
           (analysis.optimum_problem.empty() ? std::string("a response with a goal has no fit")
                                             : analysis.optimum_problem) +
           ".";
  }
  return optimum_headline(analysis);
}

void add_run_caveats(const Analysis& analysis, std::vector<std::string>& caveats) {
  const FittedRuns runs(analysis);
  if (runs.missing > 0) {
    caveats.push_back(
        fmt::format("{} of {} planned runs {} not been made: the answer can still change.",
                    runs.missing, runs.planned, runs.missing == 1 ? "has" : "have"));
  }
  if (runs.incomplete > 0) {
    caveats.push_back(fmt::format("{} did not complete and {} left out of the fits; see Runs.",
                                  count_of(runs.incomplete, "run"),
                                  runs.incomplete == 1 ? "is" : "are"));
  }
}

/// What disturbed so many runs that measuring some of them again would meet it again.
void add_flag_caveat(const Analysis& analysis, std::vector<std::string>& caveats) {
  for (const RunsAlike& flag : runs_by_flag(analysis.records)) {
    if (!is_of_many(flag, analysis.records)) continue;
    caveats.push_back(fmt::format("{} of {} runs are flagged: {}. Put that right and measure anew.",
                                  flag.runs.size(), analysis.completed(), flag.what));
    return;
  }
}

void add_fit_caveats(const Analysis& analysis, std::vector<std::string>& caveats) {
  for (const ResponseAnalysis& response : analysis.responses) {
    const std::string& name = response.response.name;
    if (!response.fit) {
      caveats.push_back(fmt::format("{} has no fit: {}.", name, response.problem));
      continue;
    }
    const Trust judged = trust(response);
    if (judged.level != Trust::Level::kGood) caveats.push_back(name + ": " + judged.sentence);
  }
}

void add_optimum_caveats(const Analysis& analysis, std::vector<std::string>& caveats) {
  if (!analysis.optimum || analysis.optimum->at_bound.empty()) return;
  constexpr std::size_t kMostNames = 8;
  std::vector<std::string> names = analysis.optimum->at_bound;
  if (names.size() > kMostNames + 1) {
    const std::size_t more = names.size() - kMostNames;
    names.resize(kMostNames);
    names.push_back(fmt::format("{} more factors", more));
  }
  caveats.push_back(fmt::format(
      "The best {} of {} {}: still better settings may lie outside.",
      names.size() == 1 ? "setting" : "settings", listed(names),
      names.size() == 1 ? "lies at the end of its range" : "lie at the ends of their ranges"));
}

/// Runs that would help where the surfaces were wrong.
int runs_to_augment(const Analysis& analysis) {
  constexpr int kLeast = 4;
  return std::max(kLeast, 2 * static_cast<int>(factors_of(analysis).size()));
}

/// A command about this study.
std::string command(const Analysis& analysis, std::string_view name) {
  return fmt::format("doetune {} {}", name, analysis.directory->path.string());
}

struct Next {
  std::string command;
  std::string reason;
};

/// Where nothing that was tried has completed, trying the rest or once more would end alike.
Next next_of_partial(const Analysis& analysis) {
  const study::Study& study = analysis.directory->study;
  const bool in_vain = analysis.completed() == 0 && !analysis.records.empty();
  if (in_vain && !(study.command.empty() && study.workload.empty())) {
    return {command(analysis, "check"), "makes one run and shows what it prints"};
  }
  return FittedRuns(analysis).missing > 0
             ? Next{command(analysis, "run"), "makes the runs that are missing"}
             : Next{command(analysis, "status"), "shows why runs did not complete"};
}

Next next_of_unconfirmed(const Analysis& analysis,
                         const std::optional<Confirmation>& confirmation) {
  if (confirmation && confirmation->missing == 0 && confirmation->completed > 0) {
    return {fmt::format("{} --runs {}", command(analysis, "augment"), runs_to_augment(analysis)),
            "adds runs, from which the surfaces learn their error"};
  }
  const study::Study& study = analysis.directory->study;
  if (study.command.empty() && study.workload.empty()) {
    return {"", "run these settings again and compare with the range of the next run"};
  }
  return {command(analysis, "confirm"), "runs these settings again and judges the prediction"};
}

Next next_of_not_confirmed(const Analysis& analysis, const Confirmation& confirmation) {
  if (confirmation.system_changed()) {
    return {command(analysis, "status"),
            "shows flags, drift and conditions; plan anew once the system is steady"};
  }
  return {fmt::format("{} --runs {}", command(analysis, "augment"), runs_to_augment(analysis)),
          "adds runs, with which the surfaces are fitted anew; or try another --surface"};
}

Next next_step(const Analysis& analysis, Status status,
               const std::optional<Confirmation>& confirmation) {
  switch (status) {
    case Status::kPartial:
      return next_of_partial(analysis);
    case Status::kNoGoals:
      return {command(analysis, "optimize") + " --goal \"RESPONSE=maximize\"",
              "finds the best settings once it is known what is wanted"};
    case Status::kInfeasible:
      return {command(analysis, "optimize") + " --goal \"RESPONSE=at_most:LIMIT\"",
              "tries other limits on the same surfaces, without new runs"};
    case Status::kUnconfirmed:
      return next_of_unconfirmed(analysis, confirmation);
    case Status::kNotConfirmed:
      return next_of_not_confirmed(analysis, *confirmation);
    case Status::kNoGain:
      return {"", "keep today's settings, or plan anew over wider ranges or other factors"};
    case Status::kConfirmed:
      break;
  }
  return {"", "use these settings"};
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
  }
  return {};
}

Verdict verdict(const Analysis& analysis) {
  Verdict result;
  const std::optional<Confirmation> confirmation = confirmation_of(analysis);
  result.status = status_of(analysis, confirmation);
  const bool is_judged = result.status == Status::kConfirmed ||
                         result.status == Status::kNotConfirmed || result.status == Status::kNoGain;
  result.headline = is_judged ? confirmation_headline(*confirmation) : headline(analysis);
  add_run_caveats(analysis, result.caveats);
  add_flag_caveat(analysis, result.caveats);
  for (std::string& caveat : confirmation_caveats(analysis, confirmation)) {
    result.caveats.push_back(std::move(caveat));
  }
  add_fit_caveats(analysis, result.caveats);
  add_optimum_caveats(analysis, result.caveats);
  if (result.caveats.size() > kMostCaveats) result.caveats.resize(kMostCaveats);
  Next next = next_step(analysis, result.status, confirmation);
  result.next_command = std::move(next.command);
  result.next_reason = std::move(next.reason);
  return result;
}

}  // namespace doetune::reports
