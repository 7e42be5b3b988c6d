#include "analysis/study_tests.h"

#include <algorithm>

#include "analysis/trust.h"

namespace doetune::analysis {
namespace {

void add(const std::optional<double>& p, std::vector<double>& tests) {
  if (p) tests.push_back(*p);
}

}  // namespace

std::optional<double> p_of_model(const surfaces::Fit& fit) {
  const auto row = std::find_if(fit.anova.begin(), fit.anova.end(),
                                [](const auto& source) { return source.source == "model"; });
  return row == fit.anova.end() ? std::nullopt : row->p;
}

std::optional<double> p_without_effect(const surfaces::Fit& fit, double level) {
  const std::optional<double> p = p_of_model(fit);
  const bool lacking = fit.lack_of_fit && fit.lack_of_fit->p <= level;
  return p && *p > level && !lacking ? p : std::nullopt;
}

std::vector<surfaces::SequentialStep> larger_steps(const ResponseAnalysis& response) {
  std::vector<surfaces::SequentialStep> larger;
  if (!response.sequential || response.selection) return larger;
  for (const surfaces::SequentialStep& step : response.sequential->steps) {
    if (step.model == "mean") continue;
    const doe::Model model = doe::Model::named(step.model, response.fit->model.factors());
    if (model.column_count() > response.fit->model.column_count()) larger.push_back(step);
  }
  return larger;
}

std::vector<double> surface_tests(const ResponseAnalysis& response) {
  std::vector<double> tests;
  if (!response.fit || response.other) return tests;
  add(p_of_model(*response.fit), tests);
  if (response.fit->lack_of_fit) tests.push_back(response.fit->lack_of_fit->p);
  return tests;
}

std::optional<double> p_of_outliers(const ResponseAnalysis& response) {
  std::optional<double> least;
  for (const surfaces::RunInfluence& run : response.diagnostics.runs) {
    if (run.outlier_p) least = std::min(least.value_or(1), *run.outlier_p);
  }
  return least;
}

std::string among_tests(double p, double level) {
  const bool only_alone = p < surfaces::kSignificant && p > level;
  return only_alone ? "; not significant among all tests of the study" : "";
}

std::vector<double> assumption_tests(const ResponseAnalysis& response) {
  std::vector<double> tests;
  if (!response.fit || response.other) return tests;
  add(p_of_outliers(response), tests);
  const FitDiagnostics& diagnostics = response.diagnostics;
  if (diagnostics.drift) tests.push_back(diagnostics.drift->p);
  if (diagnostics.spread) tests.push_back(diagnostics.spread->p);
  if (response.constancy && !response.fit->variance) tests.push_back(response.constancy->p);
  for (const surfaces::SequentialStep& step : larger_steps(response)) add(step.p, tests);
  return tests;
}

double holm_level(std::vector<double> p, double level) {
  std::sort(p.begin(), p.end());
  double left = static_cast<double>(p.size());
  for (const double next : p) {
    if (next > level / left) return level / left;
    --left;
  }
  return level;
}

void correct_for_tests(std::vector<ResponseAnalysis>& responses) {
  const auto level = [&](const auto& tests_of) {
    std::vector<double> tests;
    for (const ResponseAnalysis& response : responses) {
      const std::vector<double> own = tests_of(response);
      tests.insert(tests.end(), own.begin(), own.end());
    }
    return holm_level(std::move(tests), surfaces::kSignificant);
  };
  const TestLevels levels{level(surface_tests), level(assumption_tests)};
  for (ResponseAnalysis& response : responses) response.levels = levels;
}

}  // namespace doetune::analysis
