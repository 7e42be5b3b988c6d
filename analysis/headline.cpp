#include "analysis/headline.h"

#include <fmt/format.h>

#include "analysis/fitted_runs.h"
#include "analysis/format.h"
#include "analysis/limit_confidence.h"
#include "analysis/reference_point.h"
#include "analysis/run_quality.h"
#include "analysis/today.h"

namespace doetune::analysis {
namespace {

/// The limits that are missed: a ramp has no value that must be reached.
std::vector<std::string> missed_limits(const Analysis& analysis) {
  std::vector<std::string> names;
  for (const surfaces::ResponsePrediction& predicted : analysis.optimum->best.predictions) {
    const auto goal = analysis.goals.find(predicted.name);
    const bool limited = goal != analysis.goals.end() && goal->second.is_limit();
    if (limited && !predicted.goal_met) names.push_back(predicted.name);
  }
  return names;
}

/// "the best throughput (218 images/s)", "the best compromise of a and b"; empty without ramp
/// goals.
std::string best_of_ramps(const Analysis& analysis) {
  std::vector<std::string> names;
  std::string value;
  for (const surfaces::ResponsePrediction& predicted : analysis.optimum->best.predictions) {
    const auto goal = analysis.goals.find(predicted.name);
    if (goal == analysis.goals.end() || goal->second.is_limit()) continue;
    names.push_back(predicted.name);
    const double expected = predicted.expected.value_or(predicted.mean);
    value = with_unit(number_to(expected, half_width(predicted.confidence_interval)),
                      unit_of(analysis, predicted.name));
  }
  if (names.empty()) return "";
  if (names.size() == 1) return fmt::format("the best {} ({})", names.front(), value);
  return "the best compromise of " + listed(names);
}

std::vector<std::string> sought_responses(const Analysis& analysis) {
  std::vector<std::string> names;
  for (const auto& [name, goal] : analysis.goals) names.push_back(name);
  return names;
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

/// "the limit on a", "the limits on a and b", "all 8 limits".
std::string limits_named(const std::vector<std::string>& limited) {
  constexpr std::size_t kMaxNamedLimits = 3;
  if (limited.size() > kMaxNamedLimits) return fmt::format("all {} limits", limited.size());
  return fmt::format("the {} on {}", limited.size() == 1 ? "limit" : "limits", listed(limited));
}

/// What is known of whether a run completes; empty if it does, here and one step off.
std::string completion_text(const Analysis& analysis) {
  const std::optional<double>& probability = analysis.optimum->best.feasibility;
  if (!probability) return "";
  const double asked = analysis.directory->study.feasibility;
  if (*probability < asked) {
    return fmt::format(
        " It completes with a probability of {}, which is less than the required {}; no "
        "configuration that has completed has a higher one.",
        in_words(chance_text(*probability)), percent(asked));
  }
  const std::optional<double>& off = analysis.details->robustness.min_feasibility;
  if (!off || *off >= asked) return "";
  return fmt::format(
      " It completes with a probability of {}, but it is close to settings that cannot run: one "
      "step away, the probability can fall to {}.",
      in_words(chance_text(*probability)), in_words(chance_text(*off)));
}

/// The limits that are met by the means, but not with the confidence wanted.
std::string doubt_text(const Analysis& analysis) {
  std::vector<std::string> missed;
  for (const std::string& name : limited_responses(analysis)) {
    const auto limit = limit_confidence(analysis, name);
    if (!limit || limit->is_reached()) continue;
    const std::string reached = chance_text(limit->probability),
                      wanted = chance_text(limit->wanted);
    missed.push_back(fmt::format("{} on {} ({})", missed.empty() ? "the limit" : "that", name,
                                 reached == wanted
                                     ? fmt::format("wanted {}, nearly reached", wanted)
                                     : fmt::format("{}, wanted {}", in_words(reached), wanted)));
  }
  if (missed.empty()) return "";
  const char* nearest = analysis.optimum->best.doubt <= 0 ? ""
                        : analysis.among_runs ? "; no configuration that was run comes nearer"
                                              : "; no configuration comes nearer";
  return fmt::format(" The confidence wanted is not reached for {}{}.", listed(missed), nearest);
}

/// "run 7 (throughput 512 images/s, latency 9 ms)".
std::string measured_run_text(const Analysis& analysis, int run) {
  const study::RunRecord& record = analysis.records.at(run);
  std::string values;
  for (const std::string& name : sought_responses(analysis)) {
    values +=
        fmt::format("{}{} {}", values.empty() ? "" : ", ", name,
                    with_unit(short_number(record.responses.at(name)), unit_of(analysis, name)));
  }
  return fmt::format("run {} ({})", run, values);
}

std::string measured_headline(const Analysis& analysis) {
  const std::vector<std::string> limited = limited_responses(analysis);
  const char* limits = limited.empty()                   ? ""
                       : analysis.measured->meets_limits ? ", and meets "
                                                         : ", but does not meet ";
  return fmt::format(
      "No optimum can be predicted from {}. Of the measured runs {} is the best{}{}.",
      count_of(analysis.completed(), "completed run"),
      measured_run_text(analysis, analysis.measured->run), limits,
      limited.empty() ? "" : limits_named(limited));
}

/// "This rests on the linear model: ..."; empty if every surface is the study's.
std::string fallback_sentence(const Analysis& analysis) {
  for (const ResponseAnalysis& response : analysis.responses) {
    if (!response.fallback || !analysis.goals.contains(response.response.name)) continue;
    return fmt::format(" This rests on a different model from the one planned ({}), because {}.",
                       response.fallback->model, response.fallback->reason);
  }
  return "";
}

std::string optimum_headline(const Analysis& analysis) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  if (!optimum.feasible) {
    const std::vector<std::string> missed = missed_limits(analysis);
    return fmt::format(
        "No configuration is predicted to meet every goal; the one proposed comes nearest{}.",
        missed.empty() ? "" : " and misses " + listed(missed));
  }
  const std::vector<std::string> out_of_reach = ends_out_of_reach(analysis);
  if (!out_of_reach.empty()) {
    return fmt::format(
        "No configuration is predicted to reach {}{}; the one proposed comes nearest.",
        listed(out_of_reach), analysis.goals.size() > 1 ? " together with the other goals" : "");
  }
  if (analysis.details && analysis.details->indifferent) {
    return fmt::format(
        "These runs show no effect of any factor on {}, so no configuration is shown to be better "
        "than another.",
        listed(sought_responses(analysis)));
  }
  const std::vector<std::string> limited = limited_responses(analysis);
  const std::string best = best_of_ramps(analysis);
  const std::string subject =
      is_at_today(analysis) ? "The baseline is already the configuration that is"
      : analysis.among_runs ? "Of the configurations that were run, this one is"
                            : "This configuration is";
  const std::string more = doubt_text(analysis) + completion_text(analysis);
  if (limited.empty()) return fmt::format("{} predicted to give {}.{}", subject, best, more);
  std::string text = best.empty() ? fmt::format("{} predicted to meet {} on average", subject,
                                                limits_text(limited))
                                  : fmt::format("{} predicted to give {} among those that meet {}",
                                                subject, best, limits_named(limited));
  if (optimum.best.all_goals_met_probability) {
    text += fmt::format("; a single run {} with a probability of {}",
                        limited.size() == 1 ? "meets it" : "meets them",
                        in_words(chance_text(*optimum.best.all_goals_met_probability)));
  }
  return text + "." + more;
}

}  // namespace

std::vector<std::string> ends_out_of_reach(const Analysis& analysis) {
  std::vector<std::string> ends;
  for (const surfaces::ResponsePrediction& predicted : analysis.optimum->best.predictions) {
    const auto found = analysis.goals.find(predicted.name);
    if (found == analysis.goals.end() || found->second.is_limit() || predicted.goal_met) continue;
    const surfaces::Goal& goal = found->second;
    const bool below = goal.type == surfaces::GoalType::kMaximize ||
                       (goal.type == surfaces::GoalType::kTarget && predicted.mean <= goal.low);
    ends.push_back(fmt::format(
        "the {} end of {} ({})", below ? "low" : "high", predicted.name,
        with_unit(short_number(below ? goal.low : goal.high), unit_of(analysis, predicted.name))));
  }
  return ends;
}

std::string predicted_headline(const Analysis& analysis) {
  if (analysis.measured) return measured_headline(analysis);
  const int done = analysis.completed();
  if (!any_fit(analysis)) {
    if (done > 0) {
      return fmt::format("{} completed; that is not enough to fit the model.",
                         count_of(done, "run"));
    }
    if (analysis.records.empty()) {
      return "No run has completed yet, so nothing can be predicted.";
    }
    return fmt::format("{} {} tried, and none has completed. {}.",
                       count_of(static_cast<int>(analysis.records.size()), "run"),
                       analysis.records.size() == 1 ? "was" : "were",
                       capitalised(runs_by_end(analysis.records).front().what));
  }
  if (!has_goal(analysis)) {
    return "The surfaces are fitted, but the study sets no goal, so there is no optimum. Explore "
           "the surfaces, or give a response a goal.";
  }
  if (!analysis.optimum) {
    return "There is no optimum: " +
           (analysis.optimum_problem.empty() ? std::string("a response with a goal has no fit")
                                             : analysis.optimum_problem) +
           ".";
  }
  return optimum_headline(analysis) + fallback_sentence(analysis);
}

}  // namespace doetune::analysis
