#include "cli/runs/front_of_goals.h"

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "cli/terminal/terminal.h"
#include "reports/json/analysis_json.h"
#include "study/argument_template.h"
#include "study/files.h"
#include "surfaces/optimum/non_dominated.h"

namespace doetune::cli {
namespace {

/// The points of the analysis's front, in which limits are goals too, that meet the limits and are
/// non-dominated in the other goals.
std::vector<const surfaces::Candidate*> front_of(const analysis::Analysis& analysis) {
  std::vector<const surfaces::Candidate*> allowed;
  for (const surfaces::ParetoPoint& point : analysis.details->pareto.points) {
    if (point.candidate.violation == 0) allowed.push_back(&point.candidate);
  }
  std::vector<std::vector<double>> costs(allowed.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    for (const surfaces::ResponsePrediction& response : allowed[i]->predictions) {
      const auto goal = analysis.goals.find(response.name);
      if (goal == analysis.goals.end() || goal->second.is_limit()) continue;
      costs[i].push_back(surfaces::cost(goal->second, response.mean));
    }
  }
  if (allowed.empty()) return allowed;
  Eigen::MatrixXd columns(costs.front().size(), allowed.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    columns.col(static_cast<Eigen::Index>(i)) =
        Eigen::VectorXd::Map(costs[i].data(), columns.rows());
  }
  std::vector<Eigen::Index> kept = surfaces::non_dominated(columns);
  std::sort(kept.begin(), kept.end());
  std::vector<const surfaces::Candidate*> front;
  for (const Eigen::Index i : kept) front.push_back(allowed[static_cast<std::size_t>(i)]);
  return front;
}

std::string predictions_text(const analysis::Analysis& analysis,
                             const surfaces::Candidate& candidate) {
  std::string text;
  for (const surfaces::ResponsePrediction& response : candidate.predictions) {
    if (!analysis.goals.contains(response.name)) continue;
    const std::string& unit = analysis.directory->study.find_response(response.name)->unit;
    const double expected = response.expected.value_or(response.mean);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", response.name,
                        analysis::with_unit(analysis::short_number(expected), unit));
  }
  return text;
}

}  // namespace

int conclude_front(const study::StudyDirectory& directory, bool json) {
  const analysis::Analysis analysis = analysis::analyse(directory);
  const std::string document = reports::optimum_json(analysis);
  study::write_file_atomically(directory.path / "optimum.json", document);
  if (json) fmt::print("{}", document);
  if (!analysis.optimum) {
    print_message("There is no front: {}\n", analysis.optimum_problem);
    return kRunsMissing;
  }
  const auto front = front_of(analysis);
  const std::string path = study::shell_quoted(directory.path.string());
  if (front.empty()) {
    print_message("No configuration meets all limits\n");
    say_next("doetune optimize " + path);
    return kNoSettingsMeetGoals;
  }
  if (!json) {
    fmt::print("Pareto front of {} configurations, none of which is better in every goal:\n",
               front.size());
    for (const surfaces::Candidate* candidate : front) {
      fmt::print(
          "  {}\n",
          wrapped(fmt::format("{}: {}",
                              analysis::settings_text(directory.study.factors, candidate->settings),
                              predictions_text(analysis, *candidate)),
                  4, kColumns));
    }
  }
  say_next("doetune report " + path);
  return kDone;
}

}  // namespace doetune::cli
