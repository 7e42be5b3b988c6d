#include <catch2/catch.hpp>

#include "base/random.h"
#include "runner/loop/drift.h"

using namespace doetune;

namespace {

/// Centre runs with the given response.
struct Centers {
  study::Study study;
  study::Plan plan;
  std::map<int, study::RunRecord> records;

  explicit Centers(const std::vector<double>& values) {
    study.responses.resize(1);
    study.responses[0].name = "y";
    for (const double value : values) {
      study::PlannedRun run;
      run.run = static_cast<int>(plan.runs.size()) + 1;
      run.type = doe::PointType::kCenter;
      plan.runs.push_back(run);
      records[run.run].status = study::RunStatus::kCompleted;
      records[run.run].responses["y"] = value;
    }
  }

  std::vector<runner::Drift> drifts() const { return runner::drifts(study, plan, records); }
};

}  // namespace

TEST_CASE("Drift is the line through the centre runs, with Student's interval", "[runner][drift]") {
  // By hand: x = 1, 2, 3, y = 10, 11, 13; slope 1.5, residual sum of squares 1/6, std error
  // sqrt(1/6 / 2) = .2887, t(.975, 1) = 12.706; over two runs and the mean of 34/3.
  const auto found = Centers({10, 11, 13}).drifts();
  REQUIRE(found.size() == 1);
  CHECK(found[0].runs == 3);
  CHECK(found[0].change == Approx(3 / (34.0 / 3)));
  CHECK(found[0].half_width == Approx(12.7062 * 0.288675 * 2 / (34.0 / 3)).epsilon(1e-5));
  CHECK_FALSE(found[0].is_clear);
  CHECK(runner::drift_text(found[0]) ==
        "y varies too much to detect a drift: +26 % (±65 %) over 3 centre runs");
}

TEST_CASE("A clear drift is reported, and two runs or none show nothing", "[runner][drift]") {
  const auto found = Centers({100, 101.1, 101.9, 103, 104.1}).drifts();
  REQUIRE(found.size() == 1);
  CHECK(found[0].is_clear);
  CHECK_THAT(runner::drift_text(found[0]), Catch::Contains("y drifts: +4 %"));
  CHECK(Centers({100, 120}).drifts().empty());
  Centers other({1, 2, 3});
  for (auto& run : other.plan.runs) run.type = doe::PointType::kFactorial;
  CHECK(other.drifts().empty());
  Centers failed({1, 2, 3});
  for (auto& [run, record] : failed.records) record.status = study::RunStatus::kFailed;
  CHECK(failed.drifts().empty());
}

TEST_CASE("The drift of values around 0 is not relative to their mean", "[runner][drift]") {
  // By hand: x = 1, 2, 3, y = -1, 0.7, 0.6; slope 0.8; the mean is 0.1.
  const auto found = Centers({-1, 0.7, 0.6}).drifts();
  REQUIRE(found.size() == 1);
  CHECK(found[0].change == Approx(1.6));
  CHECK_THAT(runner::drift_text(found[0]), Catch::Contains("to detect a drift: +1.6 (±"));
  CHECK_THAT(runner::drift_text(found[0]), !Catch::Contains("%"));
  CHECK(Centers({-1, 0, 1}).drifts().size() == 1);  // a mean of 0
  CHECK_FALSE(Centers({0, 0, 0}).drifts().at(0).is_clear);
}

TEST_CASE("Of steady systems one in twenty seems to drift", "[runner][drift]") {
  RandomStream random(2026, 5);
  int clear = 0;
  constexpr int kStudies = 2000;
  for (int i = 0; i < kStudies; ++i) {
    std::vector<double> values;
    for (int run = 0; run < 6; ++run) {
      double sum = 0;  // the sum of 12 uniform numbers is nearly normal
      for (int k = 0; k < 12; ++k) sum += random.uniform();
      values.push_back(100 + sum - 6);
    }
    clear += Centers(values).drifts().at(0).is_clear ? 1 : 0;
  }
  // 0.05 of 2,000 is 100, with a standard deviation of 9.7.
  CHECK(clear > 100 - 40);
  CHECK(clear < 100 + 40);
}
