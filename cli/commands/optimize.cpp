#include <fmt/format.h>

#include "analysis/format.h"
#include "analysis/limit_confidence.h"
#include "analysis/reference_point.h"
#include "analysis/today.h"
#include "analysis/verdict.h"
#include "base/nearest_name.h"
#include "base/standard_streams.h"
#include "cli/commands/commands.h"
#include "cli/options/run_numbers.h"
#include "cli/options/study_argument.h"
#include "cli/terminal/contour_chart.h"
#include "cli/terminal/print_changes.h"
#include "cli/terminal/print_verdict.h"
#include "cli/terminal/profile_chart.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/text_canvas.h"
#include "reports/json/analysis_json.h"
#include "study/argument_template.h"

namespace doetune::cli {
namespace {

std::string interval(const std::optional<surfaces::Interval>& value) {
  return value ? analysis::interval_text(*value) : "unavailable";
}

/// Whether a limit is met, in two lines: "likely, 82 %" and "90 % wanted".
struct MetWords {
  std::string first, second;
};

MetWords met_words(const analysis::Analysis& analysis,
                   const surfaces::ResponsePrediction& predicted) {
  const surfaces::Goal* goal = analysis::goal_of(analysis, predicted.name);
  if (goal == nullptr || !goal->is_limit()) return {"-", ""};
  const auto limit = analysis::limit_confidence(analysis, predicted.name);
  if (!limit) return {predicted.goal_met ? "on average" : "NO", ""};
  const std::string word = predicted.goal_met ? limit->word() : "NO";
  const std::string of = goal->of == doe::LimitOf::kMean ? " of the mean" : "";
  return {word + ", " + analysis::chance_text(limit->probability) + of,
          limit->is_reached() ? "" : analysis::chance_text(limit->wanted) + " wanted"};
}

void print_predictions(const analysis::Analysis& analysis, const surfaces::Candidate& candidate) {
  const bool corrected =
      std::any_of(candidate.predictions.begin(), candidate.predictions.end(),
                  [](const auto& predicted) { return predicted.expected.has_value(); });
  TextTable table({"response", corrected ? "expected" : "predicted", "mean, 95 %", "next run, 95 %",
                   "goal met"});
  for (const surfaces::ResponsePrediction& predicted : candidate.predictions) {
    const study::Response& response = *analysis.directory->study.find_response(predicted.name);
    const auto goal = analysis.goals.find(predicted.name);
    const bool has_goal = goal != analysis.goals.end();
    const MetWords met = met_words(analysis, predicted);
    table.add({analysis::name_with_unit(predicted.name, response.unit),
               analysis::number_beside(predicted.expected.value_or(predicted.mean), 0,
                                       has_goal ? std::optional(goal->second) : std::nullopt),
               interval(predicted.confidence_interval), interval(predicted.prediction_interval),
               met.first});
    if (has_goal) table.add({"  " + analysis::goal_text(goal->second, ""), "", "", "", met.second});
  }
  fmt::print("{}", table.str());
  if (!corrected) return;
  std::string predictions;
  for (const surfaces::ResponsePrediction& predicted : candidate.predictions) {
    predictions += fmt::format("{}{} {}", predictions.empty() ? "" : ", ", predicted.name,
                               analysis::number_beside(predicted.mean, 0, std::nullopt));
  }
  fmt::print("  {}\n",
             wrapped("the surfaces predict " + predictions +
                         "; settings that are chosen because they look best look better than they "
                         "are, and the expected means and ranges allow for that",
                     2, kColumns));
}

/// The uncertainty of a factor's optimum: a 90 % interval, or the frequencies of its levels.
std::string uncertainty_text(const doe::Factor& factor,
                             const surfaces::FactorUncertainty& uncertain) {
  if (uncertain.anywhere) return "anywhere";
  if (!factor.is_categorical()) {
    return fmt::format("{} to {}", factor.format(factor.snap(uncertain.settings.low)),
                       factor.format(factor.snap(uncertain.settings.high)));
  }
  std::string text;
  for (std::size_t level = 0; level < uncertain.shares.size(); ++level) {
    if (uncertain.shares[level] < 0.005) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", factor.level_names[level],
                        analysis::percent(uncertain.shares[level]));
  }
  return text;
}

void print_settings(const analysis::Analysis& analysis) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  const auto& uncertainty = analysis.details->uncertainty;
  TextTable table({"factor", "setting", "unit", uncertainty ? "true optimum, 90 %" : "", ""});
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const doe::Factor& factor = factors[f];
    const bool at_bound = std::find(optimum.at_bound.begin(), optimum.at_bound.end(),
                                    factor.name) != optimum.at_bound.end();
    table.add({factor.name, factor.format(optimum.best.settings[f]), factor.unit,
               uncertainty ? uncertainty_text(factor, uncertainty->factors[f]) : "",
               at_bound ? "at the end of its range" : ""});
  }
  fmt::print("{}", table.str());
}

/// The difference with its unit, rounded according to its interval.
std::string difference_text(const analysis::Analysis& analysis, const surfaces::Gain& gain) {
  return analysis::with_unit(
      analysis::signed_difference_to(gain.difference, analysis::half_width(gain.interval)),
      analysis.directory->study.find_response(gain.name)->unit);
}

void print_gains(const analysis::Analysis& analysis) {
  if (const std::string left_out = analysis::left_out_without_baseline(analysis);
      !left_out.empty()) {
    fmt::print("\n{}\n", wrapped(left_out, 0, kColumns));
    return;
  }
  if (analysis.details->gains.empty() || !analysis::can_gain(analysis)) return;
  TextTable table({"relative to the baseline", "gain", "95 %", "ratio"});
  for (const surfaces::Gain& gain : analysis.details->gains) {
    table.add({gain.name, difference_text(analysis, gain), interval(gain.interval),
               gain.ratio ? fmt::format("{:.3g}", *gain.ratio) : "-"});
  }
  fmt::print("\n{}", table.str());
}

void print_robustness(const analysis::Analysis& analysis) {
  TextTable table({"one step off in any factor", "lowest to highest"});
  for (const surfaces::RobustResponse& response : analysis.details->robustness.responses) {
    table.add({response.name, analysis::interval_text(response.range)});
  }
  fmt::print("\n{}", table.str());
  if (analysis.details->robustness.limits_met_fraction < 1) {
    fmt::print("  {} of these configurations meet every limit, by their predicted means\n",
               analysis::percent(analysis.details->robustness.limits_met_fraction));
  }
  if (const auto& least = analysis.details->robustness.min_feasibility) {
    fmt::print("  each of them completes with a probability of at least {}\n",
               analysis::chance_text(*least));
  }
}

std::string settings_of(const analysis::Analysis& analysis, const surfaces::Candidate& candidate) {
  return analysis::settings_text(analysis.directory->study.factors, candidate.settings);
}

void print_equivalents(const analysis::Analysis& analysis) {
  if (analysis.details->equivalents.empty()) return;
  fmt::print(
      "\n"
      "These configurations are not significantly different from the best:\n");
  for (const surfaces::Equivalent& equivalent : analysis.details->equivalents) {
    std::string differences;
    for (const surfaces::Gain& gain : equivalent.against_best) {
      differences += fmt::format("{}{} {}", differences.empty() ? "" : ", ", gain.name,
                                 difference_text(analysis, gain));
    }
    fmt::print("  {}\n    {}\n", wrapped(settings_of(analysis, equivalent.candidate), 4, kColumns),
               wrapped(differences, 4, kColumns));
  }
}

void print_relaxations(const analysis::Analysis& analysis) {
  for (const surfaces::Relaxation& relaxation : analysis.details->relaxations) {
    const study::Response& response = *analysis.directory->study.find_response(relaxation.name);
    const std::string value =
        analysis::with_unit(analysis::short_number(relaxation.reachable), response.unit);
    const std::string summary =
        relaxation.feasible
            ? fmt::format("with a limit of {} on {} all other goals can be met ({})", value,
                          relaxation.name, settings_of(analysis, relaxation.candidate))
            : fmt::format("even without the limit on {} the other goals cannot be met",
                          relaxation.name);
    fmt::print("  {}\n", wrapped(summary, 4, kColumns));
  }
}

void print_probabilities(const surfaces::Optimum& optimum) {
  if (optimum.best.all_goals_met_probability) {
    fmt::print("\n  the next run meets every limit with a probability of {}\n",
               analysis::chance_text(*optimum.best.all_goals_met_probability));
  }
  if (optimum.best.feasibility) {
    fmt::print("  a run of this configuration completes with a probability of {}\n",
               analysis::chance_text(*optimum.best.feasibility));
  }
  if (optimum.global) return;
  fmt::print("  found by a search that is not exhaustive: better configurations may exist{}\n",
             optimum.optimality_gap ? fmt::format(", better by at most {}",
                                                  analysis::short_number(*optimum.optimality_gap))
                                    : "");
}

/// Whether every limit is met, and every ramp has a positive desirability.
bool meets_goals(const analysis::Analysis& analysis) {
  const std::vector<surfaces::ResponsePrediction>& predictions = analysis.optimum->best.predictions;
  return analysis.optimum->feasible && std::all_of(predictions.begin(), predictions.end(),
                                                   [](const auto& o) { return o.goal_met; });
}

void print_optimum(const analysis::Analysis& analysis) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  print_verdict(analysis::verdict(analysis));
  fmt::print("\n");
  print_settings(analysis);
  fmt::print("\n");
  print_predictions(analysis, optimum.best);
  print_probabilities(optimum);
  print_relaxations(analysis);
  print_gains(analysis);
  print_preference(analysis);
  print_robustness(analysis);
  print_equivalents(analysis);
  fmt::print("\n");
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    fmt::print("{}", profile_text(analysis, response, locale_is_utf8()));
  }
}

/// The best measured run, which is the answer if no optimum can be predicted.
void print_measured(const analysis::Analysis& analysis) {
  const study::StudyDirectory& directory = *analysis.directory;
  const int run = analysis.measured->run;
  print_verdict(analysis::verdict(analysis));
  fmt::print("\n");
  TextTable settings({"factor", "setting", "unit"});
  const auto& measured = directory.plan.runs[static_cast<std::size_t>(run - 1)].settings;
  for (std::size_t f = 0; f < directory.study.factors.size(); ++f) {
    const doe::Factor& factor = directory.study.factors[f];
    settings.add({factor.name, factor.format(measured[f]), factor.unit});
  }
  fmt::print("{}\n", settings.str());
  TextTable responses({"response", "measured", "unit"});
  for (const auto& [name, value] : analysis.records.at(run).responses) {
    responses.add({name, analysis::short_number(value), analysis::unit_of(analysis, name)});
  }
  fmt::print("{}", responses.str());
}

/// The index of a numeric factor named by --contour.
int contour_factor(const std::vector<doe::Factor>& factors, const std::string& name) {
  std::vector<std::string> names;
  for (const int f : analysis::numeric_factors(factors)) {
    if (factors[f].name == name) return f;
    names.push_back(factors[f].name);
  }
  throw UsageError(fmt::format("--contour: there is no numeric factor '{}'{}", name,
                               did_you_mean_or_list(name, names)));
}

/// The response named by --response; by default the first one with a surface.
const analysis::ResponseAnalysis& contour_response(const Options& options,
                                                   const analysis::Analysis& analysis) {
  const std::string wanted = options.text("response");
  std::vector<std::string> names;
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (response.surface() == nullptr) continue;
    if (wanted.empty() || response.response.name == wanted) return response;
    names.push_back(response.response.name);
  }
  throw UsageError(fmt::format("--response: there is no response with a surface '{}'{}", wanted,
                               did_you_mean_or_list(wanted, names)));
}

/// The requested contour plot.
std::string asked_contour(const Options& options, const analysis::Analysis& analysis) {
  const std::vector<std::string> names = split_list(options.text("contour"));
  if (names.size() != 2 || names[0] == names[1]) {
    throw UsageError("--contour: expected two factors, e.g. batch_size,decode_rate");
  }
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  const int x = contour_factor(factors, names[0]), y = contour_factor(factors, names[1]);
  return contour_text(analysis, contour_response(options, analysis), x, y, locale_is_utf8());
}

/// Of the study's own optimum, the command that confirms it, or what helps if that has failed.
std::string next_command(const analysis::Analysis& analysis, bool asks_otherwise) {
  const analysis::Verdict verdict = analysis::verdict(analysis);
  const bool goes_on = verdict.status == analysis::Status::kUnconfirmed ||
                       verdict.status == analysis::Status::kNotConfirmed;
  if (goes_on && !asks_otherwise && !verdict.next_command.empty()) return verdict.next_command;
  return fmt::format("doetune report {}", study::shell_quoted(analysis.directory->path.string()));
}

}  // namespace

void describe_optimize(Options& options) {
  add_fit_options(options);
  add_goal_options(options);
  options.add()("contour",
                boost::program_options::value<std::string>()->value_name("FACTOR,FACTOR"),
                "draw contours of a response over two factors")(
      "response", boost::program_options::value<std::string>()->value_name("RESPONSE"),
      "with --contour: the response to draw (the first)");
  add_directory(options);
}

int command_optimize(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  if (options.has("response") && !options.has("contour")) {
    throw UsageError("--response selects the response that --contour draws; give both");
  }
  const study::StudyDirectory directory = open_study(options);
  const analysis::Analysis analysis =
      analysis::analyse(directory, analysis_options(options, directory.study));
  say_warnings(analysis.warnings);
  if (options.has("contour")) {
    if (options.json()) {
      throw UsageError("--contour is for people, --json for programs; give only one");
    }
    fmt::print("{}", asked_contour(options, analysis));
    return kDone;
  }
  const std::string json = reports::optimum_json(analysis);
  if (!asks_otherwise(options)) {
    study::write_file_atomically(directory.path / "optimum.json", json);
  }
  if (options.json()) fmt::print("{}", json);
  if (!analysis.optimum) {
    if (!analysis.measured) print_message("no optimum: {}\n", analysis.optimum_problem);
    if (analysis.measured && !options.json()) print_measured(analysis);
    say_next(next_of(analysis::verdict(analysis)));
    return kRunsMissing;
  }
  if (options.has("with-confirmation") && !options.json()) {
    print_changes(of_the_plan(options, directory), analysis);
  }
  if (!options.json()) print_optimum(analysis);
  say_next(next_command(analysis, asks_otherwise(options)));
  return meets_goals(analysis) ? kDone : kNoSettingsMeetGoals;
}

}  // namespace doetune::cli
