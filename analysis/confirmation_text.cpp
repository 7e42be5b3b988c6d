// The result of a confirmation in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/confirmation.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"

namespace doetune::analysis {
namespace {

constexpr double kManifold = 3;        // larger ratios are shown as factors, not in percent
constexpr std::size_t kMaxListed = 3;  // maximum number of responses in a headline
constexpr double kTwoDecimals = 0.1;   // a resolution: percents have two decimals at most
constexpr double kOneDigit = 10;       // times a resolution: number_to keeps one digit, not two

std::string signed_to(double x, double resolution) {
  return (x < 0 ? "" : "+") + number_to(x, resolution);
}

/// "+38 % (95 % +31 to +45 %)", ratios as changes in percent.
std::string percent_text(double ratio, const std::optional<surfaces::Interval>& interval) {
  const auto change = [](double r) { return 100 * (r - 1); };
  if (!interval) return signed_to(change(ratio), kOneDigit) + " %";
  const double least = std::min(kTwoDecimals, std::abs(change(ratio)));
  const double half = (change(interval->high) - change(interval->low)) / 2;
  const double digit = std::max(kOneDigit * half, least);
  return fmt::format("{} % (95 % {} to {} %)", signed_to(change(ratio), digit),
                     signed_to(change(interval->low), digit),
                     signed_to(change(interval->high), digit));
}

std::string measured_text(const ConfirmedResponse& response) {
  return with_unit(mean_text(response.measured, response.goal), response.unit);
}

bool is_plain(const surfaces::Prediction& mean) {
  return mean.transform == surfaces::Transform::kNone;
}

/// "throughput 218 images/s", "latency 0.8 s (geometric mean; at most 1 s)".
std::string outcome(const ConfirmedResponse& response) {
  std::vector<std::string> remarks;
  if (!is_plain(response.measured)) remarks.push_back(mean_words(response.measured.transform));
  if (response.goal->is_limit()) remarks.push_back(goal_text(*response.goal, response.unit));
  const std::string text = response.name + " " + measured_text(response);
  return remarks.empty() ? text : fmt::format("{} ({})", text, fmt::join(remarks, "; "));
}

/// Ramp goals first, then limits.
std::string outcomes(const Confirmation& confirmation) {
  std::vector<std::string> texts;
  for (const bool limits : {false, true}) {
    for (const ConfirmedResponse& response : confirmation.responses) {
      if (response.goal && response.goal->is_limit() == limits) texts.push_back(outcome(response));
    }
  }
  if (texts.size() > kMaxListed + 1) {
    const std::size_t more = texts.size() - kMaxListed;
    texts.resize(kMaxListed);
    texts.push_back(fmt::format("{} more responses", more));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// "throughput +0.3 % (95 % -1 to +2 %)" for every ramp goal compared with the baseline.
std::string gains_listed(const Confirmation& confirmation) {
  std::string text;
  for (const ConfirmedResponse& response : confirmation.responses) {
    if (!response.goal || response.goal->is_limit() || !response.gain) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", response.name,
                        gain_text(*response.gain, response.unit));
  }
  return text.empty() ? "" : " (" + text + ")";
}

/// Responses that any configuration would have confirmed, each with the range allowed.
std::string open_ranges(const Confirmation& confirmation) {
  std::string text;
  for (const ConfirmedResponse& response : confirmation.responses) {
    if (!response.goal || response.goal->is_limit() || !response.allows_anything) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", response.name,
                        with_unit(interval_text(*response.joint_range), response.unit));
  }
  return text;
}

/// Why runs that agree show nothing.
std::string doubt_text(const Confirmation& confirmation) {
  switch (*confirmation.doubt) {
    case Confirmation::Doubt::kFewRuns:
      return "fewer than half of the planned runs completed, too few to conclude from";
    case Confirmation::Doubt::kGain:
      return fmt::format("the interval of the measured gain over the baseline includes zero{}",
                         gains_listed(confirmation));
    case Confirmation::Doubt::kRange:
      break;
  }
  return fmt::format(
      "the allowed range is as wide as the spread of all predictions, so nearly any result would "
      "agree: {}",
      open_ranges(confirmation));
}

/// "12 % below the prediction", or the difference if there is no ratio.
std::string deviation(const ConfirmedResponse& response) {
  const double measured = response.measured.response(), predicted = response.predicted.response();
  const char* side = measured < predicted ? "below" : "above";
  if (predicted > 0 && measured >= 0) {
    const double percents = 100 * std::abs(measured / predicted - 1);
    return fmt::format("{} % {} the prediction", difference_to(percents, percents), side);
  }
  return fmt::format("{} {} the prediction",
                     with_unit(short_number(std::abs(measured - predicted)), response.unit), side);
}

/// Measurements that contradict the prediction, one text per response.
std::string disagreements(const Confirmation& confirmation) {
  std::string text;
  for (const ConfirmedResponse& response : confirmation.responses) {
    if (!response.goal) continue;
    std::string measured = measured_text(response);
    if (!is_plain(response.measured)) {
      measured += " (" + mean_words(response.measured.transform) + ")";
    }
    if (!response.agrees.value_or(true)) {
      text += fmt::format("{}{} was {}, but {} was expected ({})", text.empty() ? "" : "; ",
                          response.name, measured,
                          with_unit(interval_text(*response.joint_range), response.unit),
                          deviation(response));
    } else if (response.limit == LimitHeld::kNo) {
      text += fmt::format("{}{} was {} and violates its limit ({})", text.empty() ? "" : "; ",
                          response.name, measured, goal_text(*response.goal, response.unit));
    }
  }
  return text;
}

/// Whether there are limits and all are met with 95 % confidence.
bool limits_held(const Confirmation& confirmation) {
  bool any = false;
  for (const ConfirmedResponse& response : confirmation.responses) {
    if (!response.limit) continue;
    if (*response.limit != LimitHeld::kYes) return false;
    any = true;
  }
  return any;
}

/// Whether every mean agrees with its prediction, so that one can only violate its limit.
bool all_agree(const Confirmation& confirmation) {
  return std::all_of(
      confirmation.responses.begin(), confirmation.responses.end(),
      [](const auto& response) { return !response.goal || response.agrees.value_or(true); });
}

/// Why the prediction is not confirmed.
std::string not_confirmed_text(const Confirmation& confirmation) {
  const std::string mean =
      fmt::format("The mean of {} of this configuration", count_of(confirmation.completed, "run"));
  const std::string met = limits_held(confirmation) ? " All limits are met." : "";
  if (all_agree(confirmation)) {
    return fmt::format("{} agrees with the prediction, but {}.", mean, disagreements(confirmation));
  }
  std::string text = fmt::format("{} does not agree with the prediction: {}.{}", mean,
                                 disagreements(confirmation), met);
  if (confirmation.baseline_disagrees()) {
    text +=
        " The baseline does not agree with its prediction either: the surface is wrong at "
        "both, or the system has changed since the plan was run.";
  }
  return text;
}

/// Mentions other settings that were confirmed or could not run.
void add_other_settings(const Analysis& analysis, std::vector<std::string>& caveats) {
  auto others =
      study::other_confirmations(analysis.directory->plan, analysis.optimum->best.settings);
  const auto not_made = [&](int run) { return !analysis.records.contains(run); };
  for (study::OtherConfirmation& other : others) std::erase_if(other.runs, not_made);
  std::erase_if(others, [](const auto& other) { return other.runs.empty(); });
  if (others.empty()) return;
  const study::OtherConfirmation& last = others.back();
  const bool could_run = std::none_of(last.runs.begin(), last.runs.end(), [&](int run) {
    return analysis.records.at(run).status == study::RunStatus::kInfeasible;
  });
  caveats.push_back(
      fmt::format("Another configuration {}: {} ({}). The optimum has changed since and needs its "
                  "own confirmation runs.",
                  could_run ? "was run for confirmation" : "was the best but could not run",
                  settings_text(factors_of(analysis), last.settings), runs_text(last.runs)));
}

}  // namespace

std::string mean_text(const surfaces::Prediction& mean, const std::optional<surfaces::Goal>& goal) {
  return number_beside(mean.response(), half_width(mean.confidence_interval()), goal);
}

std::string gain_text(const surfaces::Gain& gain, const std::string& unit) {
  if (gain.ratio && *gain.ratio < kManifold) return percent_text(*gain.ratio, gain.ratio_interval);
  if (gain.ratio) {
    std::string text = fmt::format("{} times", short_number(*gain.ratio));
    if (!gain.ratio_interval) return text;
    return fmt::format("{} times (95 % {})",
                       number_to(*gain.ratio, half_width(gain.ratio_interval)),
                       interval_text(*gain.ratio_interval));
  }
  if (!gain.interval) return with_unit(signed_to(gain.difference, 0), unit);
  const double half = half_width(gain.interval);
  return fmt::format("{} (95 % {} to {})", with_unit(signed_to(gain.difference, half), unit),
                     signed_to(gain.interval->low, half), signed_to(gain.interval->high, half));
}

std::string contradiction_text(const ConfirmedResponse& response) {
  return fmt::format("the mean of {} was {}, {}", count_of(response.runs, "run"),
                     measured_text(response), deviation(response));
}

std::string confirmation_headline(const Confirmation& confirmation) {
  const std::string runs = count_of(confirmation.completed, "run");
  const char* agree = confirmation.completed == 1 ? "agrees" : "agree";
  switch (confirmation.validation) {
    case Confirmation::Validation::kOpen:
      return "";
    case Confirmation::Validation::kConfirmed:
      return fmt::format("{} of this configuration {} with the prediction: {}.", runs, agree,
                         outcomes(confirmation));
    case Confirmation::Validation::kNoGain:
      return confirmation.is_baseline
                 ? fmt::format(
                       "The baseline is already the best configuration, and {} {} with the "
                       "prediction: {}.",
                       runs, agree, outcomes(confirmation))
                 : fmt::format(
                       "{} of this configuration {} with the prediction: {}. But there is no gain "
                       "over the baseline{}.",
                       runs, agree, outcomes(confirmation), gains_listed(confirmation));
    case Confirmation::Validation::kInconclusive:
      return fmt::format("{} of this configuration {} with the prediction: {}. But {}.", runs,
                         agree, outcomes(confirmation), doubt_text(confirmation));
    case Confirmation::Validation::kNotConfirmed:
      break;
  }
  return not_confirmed_text(confirmation);
}

std::vector<std::string> confirmation_caveats(const Analysis& analysis,
                                              const std::optional<Confirmation>& confirmation) {
  std::vector<std::string> caveats;
  if (!analysis.optimum) return caveats;
  if (!confirmation) {
    add_other_settings(analysis, caveats);
    return caveats;
  }
  const auto planned = static_cast<int>(confirmation->planned.all().size());
  if (confirmation->missing > 0) {
    caveats.push_back(fmt::format("{} of {} for confirmation {} not been made.",
                                  confirmation->missing, count_of(planned, "run"),
                                  confirmation->missing == 1 ? "has" : "have"));
  } else if (confirmation->validation == Confirmation::Validation::kOpen) {
    caveats.push_back(confirmation->completed == 0
                          ? "No confirmation run completed; see Runs in the report."
                          : "The confirmation runs cannot validate the prediction: a response with "
                            "a goal has no error estimate, or was not measured.");
  }
  if (confirmation->failed > 0) {
    caveats.push_back(fmt::format("{} of {} for confirmation did not complete.",
                                  confirmation->failed, count_of(planned, "run")));
  }
  for (const ConfirmedResponse& response : confirmation->responses) {
    if (response.limit != LimitHeld::kOpen) continue;
    caveats.push_back(
        fmt::format("{} meets its limit in the mean of {}, but not significantly; more runs are "
                    "needed to be certain.",
                    response.name, count_of(response.runs, "run")));
  }
  return caveats;
}

}  // namespace doetune::analysis
