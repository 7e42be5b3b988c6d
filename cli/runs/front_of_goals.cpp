#include "cli/runs/front_of_goals.h"

#include <fmt/format.h>

#include "analysis/analysis.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "cli/terminal/terminal.h"
#include "reports/json/analysis_json.h"
#include "study/argument_template.h"
#include "study/files.h"

namespace doetune::cli {
namespace {

std::string predictions_text(const analysis::Analysis& analysis,
                             const surfaces::Candidate& candidate) {
  std::string text;
  for (const surfaces::ResponsePrediction& response : candidate.predictions) {
    if (!analysis.goals.contains(response.name)) continue;
    const std::string& unit = analysis.directory->study.find_response(response.name)->unit;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", response.name,
                        analysis::with_unit(analysis::short_number(response.mean), unit));
  }
  return text;
}

}  // namespace

int conclude_front(const study::StudyDirectory& directory, bool json) {
  analysis::AnalysisOptions options;
  options.limits = surfaces::LimitsAre::kConstraints;
  const analysis::Analysis analysis = analysis::analyse(directory, options);
  const std::string document = reports::optimum_json(analysis);
  study::write_file_atomically(directory.path / "optimum.json", document);
  if (json) fmt::print("{}", document);
  if (!analysis.optimum) {
    print_message("There is no front: {}\n", analysis.optimum_problem);
    return kRunsMissing;
  }
  const std::vector<surfaces::ParetoPoint>& front = analysis.details->pareto.points;
  const std::string path = study::shell_quoted(directory.path.string());
  if (front.empty()) {
    print_message("No configuration meets all limits\n");
    say_next("doetune optimize " + path);
    return kNoSettingsMeetGoals;
  }
  if (!json) {
    fmt::print("Pareto front of {} configurations, none of which is better in every goal:\n",
               front.size());
    for (const auto& [candidate, probability] : front) {
      fmt::print(
          "  {}\n",
          wrapped(fmt::format("{}: {}",
                              analysis::settings_text(directory.study.factors, candidate.settings),
                              predictions_text(analysis, candidate)),
                  4, kColumns));
    }
  }
  say_next("doetune report " + path);
  return kDone;
}

}  // namespace doetune::cli
