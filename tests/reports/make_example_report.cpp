// make_example_report fccd|mixed FOLDER: a study directory with its report, fit.json, optimum.json,
// and predictions.json at a few settings, for the test that opens the report in a browser.
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "doe/design.h"
#include "reports/analysis.h"
#include "reports/write_report.h"
#include "tests/reports/example_studies.h"

namespace {

using namespace doetune;

nlohmann::json interval(const surfaces::Interval& ends) { return {ends.low, ends.high}; }

nlohmann::json prediction(const reports::Analysis& analysis, const Eigen::VectorXd& coded) {
  nlohmann::json json;
  for (const reports::ResponseAnalysis& response : analysis.responses) {
    const surfaces::Prediction p = response.fit->predict(coded);
    const surfaces::Goal& goal = analysis.goals.at(response.response.name);
    json[response.response.name] = {
        {"mean", p.response()},
        {"confidence_interval", interval(*p.confidence_interval())},
        {"prediction_interval", interval(*p.prediction_interval())},
        {"goal_met_probability", *p.probability_within(goal.met_low(), goal.met_high())}};
  }
  return json;
}

/// Predictions at usable settings spread over the region.
nlohmann::json predictions(const reports::Analysis& analysis) {
  const std::vector<doe::Factor>& factors = analysis.directory->study.factors;
  nlohmann::json list;
  for (std::size_t i = 0; i < 25; ++i) {
    std::vector<double> settings;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const std::vector<double> usable = factors[f].usable_settings();
      settings.push_back(usable[(i * (2 * f + 3) * usable.size() / 25) % usable.size()]);
    }
    list.push_back({{"settings", settings},
                    {"responses", prediction(analysis, doe::coded_point(factors, settings))}});
  }
  return list;
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    std::cerr << "usage: make_example_report fccd|mixed FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = arguments[2];
  std::filesystem::create_directories(folder);
  const study::StudyDirectory directory = arguments[1] == std::string("mixed")
                                              ? tests::make_mixed_study(folder)
                                              : tests::make_fccd_study(folder);
  const reports::Analysis analysis = reports::analyse(directory);
  study::write_file_atomically(directory.path / "fit.json", reports::fit_json(analysis));
  study::write_file_atomically(directory.path / "optimum.json", reports::optimum_json(analysis));
  study::write_file_atomically(directory.path / "predictions.json", predictions(analysis).dump());
  for (const std::filesystem::path& file : reports::write_report(analysis).all()) {
    std::cout << file.string() << "\n";
  }
}
