#include <catch2/catch.hpp>

#include "analysis/analysis.h"
#include "doe/design.h"
#include "reports/page/report_data.h"
#include "tests/analysis/example_studies.h"
#include "tests/temporary_directory.h"

using namespace doetune;

namespace {

/// The response at coded settings, computed from the document as its specification says.
double evaluated(const nlohmann::json& response, const std::vector<double>& coded) {
  double sum = 0;
  for (std::size_t c = 0; c < response["columns"].size(); ++c) {
    double product = response["beta"][c];
    const nlohmann::json& powers = response["columns"][c]["powers"];
    for (std::size_t f = 0; f < coded.size(); ++f) {
      for (int i = 0; i < powers[f].get<int>(); ++i) product *= coded[f];
    }
    sum += product;
  }
  return sum;
}

}  // namespace

TEST_CASE("The data of a report predicts what the fit predicts", "[reports][data]") {
  const tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_fccd_study(folder.path());
  const analysis::Analysis analysis = analysis::analyse(directory);
  const nlohmann::json data = nlohmann::json::parse(reports::report_data(analysis).dump());
  REQUIRE(data["responses"].size() == 2);
  for (std::size_t r = 0; r < 2; ++r) {
    const surfaces::Fit& fit = *analysis.responses[r].fit;
    for (const std::vector<double>& coded : {std::vector<double>{0, 0, 0}, {0.3, -0.7, 1}}) {
      const Eigen::Map<const Eigen::VectorXd> point(coded.data(), 3);
      CHECK(evaluated(data["responses"][r], coded) == Approx(fit.response(point)).epsilon(1e-12));
    }
    CHECK(data["responses"][r]["df"] == 10);
  }
  CHECK(data["runs"].size() == 20);
  CHECK(data["reference"]["settings"] == nlohmann::json(analysis.optimum->best.settings));
}

TEST_CASE("The data of a report expects of the optimum what its answer does", "[reports][data]") {
  const tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_fccd_study(folder.path());
  const analysis::Analysis analysis = analysis::analyse(directory);
  const nlohmann::json expected = reports::report_data(analysis)["optimum"]["expected"];
  // Both responses are polynomials with an error estimate, and so have a posterior.
  REQUIRE(expected.size() == 2);
  for (const surfaces::ResponsePrediction& predicted : analysis.optimum->best.predictions) {
    CHECK(expected[predicted.name]["mean"] == *predicted.expected);
    CHECK(expected[predicted.name]["confidence_interval"] ==
          nlohmann::json{predicted.confidence_interval->low, predicted.confidence_interval->high});
  }
}

TEST_CASE("The data of a report says what the study excludes", "[reports][data]") {
  const tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_constrained_study(folder.path());
  const nlohmann::json region = reports::report_data(analysis::analyse(directory))["region"];
  CHECK(region["constraints"].size() == 9);
  CHECK(region["constraints"][0] == "a * b <= 60");
  CHECK(region["forbidden"] ==
        nlohmann::json::parse(R"([[{"factor": 2, "comparison": "=", "value": 0},
                                   {"factor": 0, "comparison": ">=", "value": 7}]])"));
}

TEST_CASE("Sliders stop at usable settings alone, the reference among them", "[reports][data]") {
  const tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_fccd_study(folder.path());
  const analysis::Analysis analysis = analysis::analyse(directory);
  const nlohmann::json data = reports::report_data(analysis);
  for (std::size_t f = 0; f < data["factors"].size(); ++f) {
    const doe::Factor& factor = directory.study.factors[f];
    const std::vector<double> usable = data["factors"][f]["usable"];
    CHECK(usable.front() == factor.low);
    CHECK(usable.back() == factor.high);
    CHECK(std::is_sorted(usable.begin(), usable.end()));
    CHECK(usable.size() <= 1001);
    for (const double setting : usable) CHECK(factor.snap(setting) == setting);
    CHECK(std::count(usable.begin(), usable.end(), analysis.optimum->best.settings[f]) == 1);
  }
}

TEST_CASE("Stops of a log-scaled slider are equidistant on its scale", "[reports][data]") {
  const tests::TemporaryDirectory folder;
  const study::StudyDirectory directory = tests::make_mixed_study(folder.path());
  const nlohmann::json data = reports::report_data(analysis::analyse(directory));
  const doe::Factor& rate = directory.study.factors[1];  // 0.5 to 8 Hz, log10, settable to 10 %
  const std::vector<double> usable = data["factors"][1]["usable"];
  REQUIRE(rate.scale == doe::Scale::kLog10);
  CHECK(usable.front() == 0.5);
  CHECK(usable.back() == 8);
  for (const double setting : usable) CHECK(rate.snap(setting) == setting);
  // A step is a hundredth of the scale, or that to the next usable setting.
  for (std::size_t i = 1; i < usable.size(); ++i) {
    const double step = rate.to_coded(usable[i]) - rate.to_coded(usable[i - 1]);
    const bool adjacent = rate.snap((usable[i] + usable[i - 1]) / 2) == usable[i] ||
                          rate.snap((usable[i] + usable[i - 1]) / 2) == usable[i - 1];
    CHECK((step < 0.025 || adjacent));
  }
}
