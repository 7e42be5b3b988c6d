// make_example_report fccd|constrained|mixed|odd|split-plot|surfaces FOLDER: a study directory with
// its report, fit.json, optimum.json, and predictions.json at a few settings, for the test that
// opens the report in a browser.
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "doe/design.h"
#include "reports/documents/write_report.h"
#include "reports/json/analysis_json.h"
#include "tests/analysis/example_studies.h"

namespace {

using namespace doetune;

nlohmann::json interval(const std::optional<surfaces::Interval>& ends) {
  if (!ends) return {};
  return {ends->low, ends->high};
}

nlohmann::json prediction(const analysis::Analysis& analysis, const Eigen::VectorXd& coded) {
  nlohmann::json json;
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (response.surface() == nullptr) continue;
    const surfaces::Prediction p = response.surface()->predict(coded);
    json[response.response.name] = {{"mean", p.response()},
                                    {"confidence_interval", interval(p.confidence_interval())},
                                    {"prediction_interval", interval(p.prediction_interval())}};
    const auto goal = analysis.goals.find(response.response.name);
    if (goal == analysis.goals.end()) continue;
    const auto met = p.probability_within(goal->second.met_low(), goal->second.met_high());
    if (met) json[response.response.name]["goal_met_probability"] = *met;
  }
  return json;
}

/// The conditions of the region that exclude these settings in natural units.
nlohmann::json excluded_by(const analysis::Analysis& analysis,
                           const std::vector<double>& settings) {
  const study::Study& study = analysis.directory->study;
  nlohmann::json all = nlohmann::json::array();
  const auto ask = [&](const doe::Region& region) {
    if (const auto text = region.excluded_by(settings)) all.push_back(*text);
  };
  for (const doe::Forbidden& combination : study.region.forbidden()) {
    ask({study.factors, {}, {combination}});
  }
  for (const auto& constraint : study.region.constraints()) {
    ask({study.factors, {constraint}, {}});
  }
  const Eigen::VectorXd coded = doe::coded_point(study.factors, settings);
  if (analysis.feasibility && analysis.feasibility->probability(coded) < analysis.min_feasibility) {
    all.push_back("a run completes with a probability below " +
                  std::to_string(std::lround(100 * analysis.min_feasibility)) + " %");
  }
  return all;
}

/// Predictions at settings spread over the region, and at those of the runs.
nlohmann::json predictions(const analysis::Analysis& analysis) {
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  std::vector<std::vector<double>> all;
  for (std::size_t i = 0; i < 25; ++i) {
    all.emplace_back();
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const std::vector<double> usable = factors[f].usable_settings();
      all.back().push_back(usable[(i * (2 * f + 3) * usable.size() / 25) % usable.size()]);
    }
  }
  for (const study::PlannedRun& run : analysis.directory->plan.runs) all.push_back(run.settings);
  nlohmann::json list;
  for (const std::vector<double>& settings : all) {
    const Eigen::VectorXd coded = doe::coded_point(factors, settings);
    list.push_back({{"settings", settings},
                    {"excluded_by", excluded_by(analysis, settings)},
                    {"responses", prediction(analysis, coded)}});
    if (analysis.feasibility) list.back()["completes"] = analysis.feasibility->probability(coded);
  }
  return list;
}

using Make = study::StudyDirectory (*)(const std::filesystem::path&);

const std::map<std::string, Make> kStudies{
    {"fccd", [](const std::filesystem::path& folder) { return tests::make_fccd_study(folder); }},
    {"constrained", tests::make_constrained_study},
    {"mixed", tests::make_mixed_study},
    {"odd", tests::make_odd_study},
    {"split-plot", tests::make_split_plot_study},
    {"surfaces", tests::make_surfaces_study},
};

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3 || kStudies.count(arguments[1]) == 0) {
    std::cerr
        << "usage: make_example_report fccd|constrained|mixed|odd|split-plot|surfaces FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = arguments[2];
  std::filesystem::create_directories(folder);
  const study::StudyDirectory directory = kStudies.at(arguments[1])(folder);
  const analysis::Analysis analysis = analysis::analyse(directory);
  study::write_file_atomically(directory.path / "fit.json", reports::fit_json(analysis));
  study::write_file_atomically(directory.path / "optimum.json", reports::optimum_json(analysis));
  study::write_file_atomically(directory.path / "predictions.json", predictions(analysis).dump());
  for (const std::filesystem::path& file : reports::write_report(analysis).all()) {
    std::cout << file.string() << "\n";
  }
}
