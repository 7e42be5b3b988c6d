// What findings say of studies in which nothing matters.
#include <catch2/catch.hpp>
#include <cmath>

#include "analysis/fit_response.h"
#include "analysis/study_tests.h"
#include "analysis/trust.h"
#include "base/random.h"
#include "doe/design.h"
#include "study/study.h"
#include "tests/surfaces/random_normal.h"

using namespace doetune;
using analysis::Finding;
using analysis::ResponseRuns;

namespace {

constexpr const char* kStudy = R"(seed: 3
command: [./bench]
factors:
  a: {low: -1, high: 1}
  b: {low: -1, high: 1}
  c: {low: -1, high: 1}
responses: {y: {}}
)";

/// The runs of a face-centred design with six centre runs; nothing but noise.
ResponseRuns null_runs(std::uint64_t seed) {
  const int n = 20;
  ResponseRuns runs{{}, Eigen::MatrixXd(n, 3), {}, Eigen::VectorXd(n), {}, {}, true};
  RandomStream random(seed, 0);
  const std::vector<int> order = random_permutation(n, random);
  for (int i = 0; i < n; ++i) {
    const int point = order[static_cast<std::size_t>(i)];
    Eigen::RowVector3d x = Eigen::RowVector3d::Zero();
    if (point < 8) x << point % 2 * 2 - 1, point / 2 % 2 * 2 - 1, point / 4 * 2 - 1;
    if (point >= 8 && point < 14) x[(point - 8) / 2] = point % 2 * 2 - 1;
    runs.coded.row(i) = x;
    runs.y[i] = 100 + tests::random_normal(random);
    runs.runs.push_back(i + 1);
    runs.blocks.push_back(1);
  }
  runs.settings = runs.coded;
  return runs;
}

}  // namespace

TEST_CASE("Studies in which nothing matters have no grave finding beyond the level",
          "[analysis][findings][long]") {
  // Before the correction 998 of 1000 such studies had one.
  constexpr int kStudies = 600;
  const study::Study study = study::parse_study(kStudy, "s.yaml");
  int grave = 0, false_alarms = 0, idle = 0;
  for (std::uint64_t seed = 0; seed < kStudies; ++seed) {
    std::vector<analysis::ResponseAnalysis> responses{
        analysis::fit_response(study, study.responses[0], null_runs(seed), {})};
    analysis::correct_for_tests(responses);
    bool any_grave = false, any_alarm = false;
    for (const Finding& finding : analysis::findings(responses[0])) {
      any_grave = any_grave || finding.weight == Finding::Weight::kGrave;
      // The news that nothing matters is true.
      const bool news = finding.sentence.find("No factor is shown") != std::string::npos;
      idle += news ? 1 : 0;
      any_alarm = any_alarm || (finding.weight != Finding::Weight::kNote && !news);
    }
    grave += any_grave ? 1 : 0;
    false_alarms += any_alarm ? 1 : 0;
  }
  INFO("grave " << grave << ", alarms " << false_alarms << ", told " << idle);
  // 5 % of the grave and of the other findings, with four standard errors.
  const auto most = [](double rate) {
    return kStudies * rate + 4 * std::sqrt(kStudies * rate * (1 - rate));
  };
  CHECK(grave < most(0.05));
  CHECK(false_alarms < most(0.1));
  CHECK(idle > kStudies - most(0.05));
}

TEST_CASE("Holm's level separates what is significant together", "[analysis][findings]") {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") gives 0.03, 0.06, 0.06, 0.02.
  const double level = analysis::holm_level({0.01, 0.04, 0.03, 0.005}, 0.05);
  CHECK(level == Approx(0.025));
  CHECK(analysis::holm_level({0.06, 0.2}, 0.05) == Approx(0.025));
  CHECK(analysis::holm_level({0.001, 0.002}, 0.05) == 0.05);
  CHECK(analysis::holm_level({}, 0.05) == 0.05);
}

TEST_CASE("The remedy of a finding is a command that can be run", "[analysis][findings]") {
  const study::Study study = study::parse_study(kStudy, "s.yaml");
  std::string all;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto response = analysis::fit_response(study, study.responses[0], null_runs(seed), {});
    for (const Finding& finding : analysis::findings(response, "my study")) {
      all += finding.remedy + "\n";
    }
  }
  CHECK_THAT(all, Catch::Contains("`doetune run 'my study' --rerun "));
  CHECK_THAT(all, !Catch::Contains("doetune run --") && !Catch::Contains("doetune augment --"));
  CHECK_THAT(all, !Catch::Contains("--transform power("));
}

TEST_CASE("A Gaussian process that predicts better than the study's polynomial is told of",
          "[analysis][findings]") {
  // A step, which no quadratic has, over a Latin hypercube of 24 runs.
  const study::Study study = study::parse_study(kStudy, "s.yaml");
  ResponseRuns runs = null_runs(1);
  doe::DesignRequest request;
  request.factors = study.factors;
  request.model = study.model;
  request.options.runs = 24;
  request.options.center_runs = 0;
  runs.coded = doe::build_design("space-filling", request).coded();
  runs.settings = runs.coded;
  const auto response_of = [&](const auto& truth, std::uint64_t seed = 5) {
    RandomStream random(seed, 0);
    runs.y.resize(24);
    runs.runs.clear();
    for (int i = 0; i < 24; ++i) {
      runs.y[i] = truth(runs.coded.row(i)) + 0.05 * tests::random_normal(random);
      runs.runs.push_back(i + 1);
    }
    runs.blocks.assign(24, 1);
    return analysis::fit_response(study, study.responses[0], runs, {});
  };
  const auto step = response_of([](const auto& x) { return std::tanh(4 * (x[0] + 0.5 * x[1])); });
  REQUIRE(step.process_r2);
  CHECK(*step.process_r2 > *step.fit->predicted_r2);
  bool told = false;
  for (const Finding& finding : analysis::findings(step)) {
    told = told || finding.remedy.find("`--surface auto` fits a Gaussian process") == 0;
  }
  CHECK(told);
  CHECK_FALSE(response_of([](const auto& x) { return x[0] + x[1] * x[1]; }).process_r2);
  int of_noise = 0;  // 40 studies in which nothing matters
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    of_noise += response_of([](const auto&) { return 0.0; }, seed).process_r2 ? 1 : 0;
  }
  CHECK(of_noise == 0);
}
