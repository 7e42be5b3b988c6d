#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/study_argument.h"
#include "cli/terminal.h"
#include "reports/format.h"

namespace doetune::cli {
namespace {

std::string interval(const std::optional<surfaces::Interval>& value) {
  return value ? reports::interval_text(*value) : "unavailable";
}

void print_settings(const study::Study& study, const surfaces::Optimum& optimum) {
  TextTable table({"factor", "setting", "unit", ""});
  for (std::size_t f = 0; f < study.factors.size(); ++f) {
    const doe::Factor& factor = study.factors[f];
    const bool at_bound = std::find(optimum.at_bound.begin(), optimum.at_bound.end(),
                                    factor.name) != optimum.at_bound.end();
    table.add({factor.name, factor.format(optimum.best.settings[f]), factor.unit,
               at_bound ? "at the end of its range" : ""});
  }
  fmt::print("{}", table.str());
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

void print_optimum(const reports::Analysis& analysis) {
  const surfaces::Optimum& optimum = *analysis.optimum;
  fmt::print("{}\n", optimum.feasible
                         ? coloured("Settings that meet the goals", Colour::kGood)
                         : coloured("No settings meet all goals; the nearest are", Colour::kBad));
  print_settings(analysis.directory->study, optimum);
  fmt::print("\n");
  print_outlooks(analysis, optimum.best);
  if (optimum.best.all_goals_met_probability) {
    fmt::print(
        "\n  the next run meets every limit with a probability of {}, if the errors of the "
        "responses are independent\n",
        reports::percent(*optimum.best.all_goals_met_probability));
  }
  if (!optimum.global) {
    fmt::print("  found by search: better settings may exist\n");
  }
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
    say_next(fmt::format("doetune status {}", directory.path.string()));
    return kRunsMissing;
  }
  if (!options.json()) print_optimum(analysis);
  say_next(fmt::format("doetune report {}", directory.path.string()));
  return analysis.optimum->feasible ? kDone : kNoSettingsMeetGoals;
}

}  // namespace doetune::cli
