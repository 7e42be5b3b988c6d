#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/print_verdict.h"
#include "cli/study_argument.h"
#include "cli/terminal.h"
#include "reports/confirmation.h"
#include "reports/format.h"
#include "reports/verdict.h"

namespace doetune::cli {
namespace {

std::string interval(const std::optional<surfaces::Interval>& value) {
  return value ? reports::interval_text(*value) : "unavailable";
}

void print_outlooks(const reports::Analysis& analysis, const surfaces::Candidate& candidate) {
  TextTable table(
      {"response", "goal", "predicted", "mean, 95 %", "next run, 95 %", "goal met", "probability"});
  for (const surfaces::Outlook& outlook : candidate.outlooks) {
    const study::Response& response = *analysis.directory->study.find_response(outlook.name);
    const auto goal = analysis.goals.find(outlook.name);
    const bool has_goal = goal != analysis.goals.end();
    table.add(
        {outlook.name, has_goal ? reports::goal_text(goal->second, response.unit) : "-",
         reports::with_unit(reports::short_number(outlook.mean), response.unit),
         interval(outlook.confidence_interval), interval(outlook.prediction_interval),
         has_goal && goal->second.is_limit() ? (outlook.goal_met ? "yes" : "NO") : "-",
         outlook.goal_met_probability ? reports::percent(*outlook.goal_met_probability) : "-"});
  }
  fmt::print("{}", table.str());
}

/// Where each factor's best setting lies, 9 times out of 10.
std::string place_text(const doe::Factor& factor, const surfaces::FactorUncertainty& place) {
  if (!factor.is_categorical()) {
    return fmt::format("{} to {}", factor.format(factor.snap(place.settings.low)),
                       factor.format(factor.snap(place.settings.high)));
  }
  std::string text;
  for (std::size_t level = 0; level < place.shares.size(); ++level) {
    if (place.shares[level] < 0.005) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", factor.level_names[level],
                        reports::percent(place.shares[level]));
  }
  return text;
}

void print_settings(const reports::Analysis& analysis) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  const auto& uncertainty = analysis.details->uncertainty;
  TextTable table(
      {"factor", "setting", "unit", uncertainty ? "the true best lies in, 90 %" : "", ""});
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const doe::Factor& factor = factors[f];
    const bool at_bound = std::find(optimum.at_bound.begin(), optimum.at_bound.end(),
                                    factor.name) != optimum.at_bound.end();
    table.add({factor.name, factor.format(optimum.best.settings[f]), factor.unit,
               uncertainty ? place_text(factor, uncertainty->factors[f]) : "",
               at_bound ? "at the end of its range" : ""});
  }
  fmt::print("{}", table.str());
}

std::string signed_number(double x) { return (x < 0 ? "" : "+") + reports::short_number(x); }

void print_gains(const reports::Analysis& analysis) {
  if (analysis.details->gains.empty()) return;
  TextTable table({"against today's settings", "gain", "95 %", "ratio"});
  for (const surfaces::Gain& gain : analysis.details->gains) {
    const study::Response& response = *analysis.directory->study.find_response(gain.name);
    table.add({gain.name, reports::with_unit(signed_number(gain.difference), response.unit),
               interval(gain.interval), gain.ratio ? fmt::format("{:.3g}", *gain.ratio) : "-"});
  }
  fmt::print("\n{}", table.str());
}

void print_robustness(const reports::Analysis& analysis) {
  TextTable table({"one step off in any factor", "lowest to highest"});
  for (const surfaces::RobustResponse& response : analysis.details->robustness.responses) {
    table.add({response.name, reports::interval_text(response.range)});
  }
  fmt::print("\n{}", table.str());
  if (analysis.details->robustness.limits_met_share < 1) {
    fmt::print("  {} of these settings keep to every limit, by their predicted means\n",
               reports::percent(analysis.details->robustness.limits_met_share));
  }
}

std::string settings_text(const reports::Analysis& analysis, const surfaces::Candidate& candidate) {
  std::string text;
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    text += fmt::format("{}{} {}", f == 0 ? "" : ", ", factors[f].name,
                        factors[f].format(candidate.settings[f]));
  }
  return text;
}

void print_equivalents(const reports::Analysis& analysis) {
  if (analysis.details->equivalents.empty()) return;
  fmt::print("\nThe runs cannot tell these settings from the best:\n");
  for (const surfaces::Equivalent& equivalent : analysis.details->equivalents) {
    std::string differences;
    for (const surfaces::Gain& gain : equivalent.against_best) {
      const study::Response& response = *analysis.directory->study.find_response(gain.name);
      differences += fmt::format("{}{} {}", differences.empty() ? "" : ", ", gain.name,
                                 reports::with_unit(signed_number(gain.difference), response.unit));
    }
    fmt::print("  {}\n    {}\n", settings_text(analysis, equivalent.candidate), differences);
  }
}

void print_relaxations(const reports::Analysis& analysis) {
  for (const surfaces::Relaxation& relaxation : analysis.details->relaxations) {
    const study::Response& response = *analysis.directory->study.find_response(relaxation.name);
    const std::string value =
        reports::with_unit(reports::short_number(relaxation.reachable), response.unit);
    fmt::print("  {}\n",
               relaxation.feasible
                   ? fmt::format("with a limit of {} on {} all other goals can be met ({})", value,
                                 relaxation.name, settings_text(analysis, relaxation.candidate))
                   : fmt::format("even without the limit on {} the others cannot be met",
                                 relaxation.name));
  }
}

void print_probabilities(const surfaces::Optimum& optimum) {
  if (optimum.best.all_goals_met_probability) {
    fmt::print("\n  the next run meets every limit with a probability of {}\n",
               reports::percent(*optimum.best.all_goals_met_probability));
  }
  if (optimum.best.feasibility) {
    fmt::print("  a run at these settings completes with a probability of {}\n",
               reports::percent(*optimum.best.feasibility));
  }
  if (optimum.global) return;
  fmt::print("  found by search: better settings may exist{}\n",
             optimum.most_to_gain
                 ? fmt::format(", by {} at most", reports::short_number(*optimum.most_to_gain))
                 : "");
}

/// Every limit is met, and every ramp is reached.
bool meets_goals(const reports::Analysis& analysis) {
  const std::vector<surfaces::Outlook>& outlooks = analysis.optimum->best.outlooks;
  return analysis.optimum->feasible &&
         std::all_of(outlooks.begin(), outlooks.end(), [](const auto& o) { return o.goal_met; });
}

void print_optimum(const reports::Analysis& analysis) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  fmt::print("{}\n", meets_goals(analysis)
                         ? coloured("Settings that meet the goals", Colour::kGood)
                         : coloured("No settings meet all goals; the nearest are", Colour::kBad));
  if (reports::confirmation_of(analysis)) print_verdict(reports::verdict(analysis));
  print_settings(analysis);
  fmt::print("\n");
  print_outlooks(analysis, optimum.best);
  print_probabilities(optimum);
  print_relaxations(analysis);
  print_gains(analysis);
  print_robustness(analysis);
  print_equivalents(analysis);
}

/// The command that confirms settings, where these are the study's own and no runs have yet.
std::string next_command(const reports::Analysis& analysis, bool asks_otherwise) {
  const reports::Verdict verdict = reports::verdict(analysis);
  const bool confirm = verdict.status == reports::Status::kUnconfirmed && !asks_otherwise;
  if (confirm && !verdict.next_command.empty()) return verdict.next_command;
  return fmt::format("doetune report {}", analysis.directory->path.string());
}

}  // namespace

int command_optimize(const Command& command, const Arguments& arguments) {
  Options options(command);
  add_fit_options(options);
  add_goal_options(options);
  add_directory(options);
  if (!options.parse(arguments)) return kDone;
  const study::StudyDirectory directory = open_study(options);
  const reports::Analysis analysis =
      reports::analyse(directory, analysis_options(options, directory.study));
  const std::string json = reports::optimum_json(analysis);
  if (!asks_otherwise(options)) {
    study::write_file_atomically(directory.path / "optimum.json", json);
  }
  if (options.json()) fmt::print("{}", json);
  if (!analysis.optimum) {
    fmt::print(stderr, "no optimum: {}\n", analysis.optimum_problem);
    const bool fitted = std::any_of(analysis.responses.begin(), analysis.responses.end(),
                                    [](const auto& r) { return r.surface() != nullptr; });
    say_next(fmt::format("doetune {} {}", fitted ? "fit" : "status", directory.path.string()));
    return kRunsMissing;
  }
  if (!options.json()) print_optimum(analysis);
  say_next(next_command(analysis, asks_otherwise(options)));
  return meets_goals(analysis) ? kDone : kNoSettingsMeetGoals;
}

}  // namespace doetune::cli
