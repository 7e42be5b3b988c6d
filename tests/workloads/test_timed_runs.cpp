#include <catch2/catch.hpp>

#include <thread>

#include "workloads/timing/timed_runs.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

constexpr double kRun_s = 0.25e-3;

/// Counts runs, sleeps a little, and reports kRun_s for each.
struct Counted {
  std::int64_t runs = 0;
  double operator()(int repetitions) {
    runs += repetitions;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return repetitions * kRun_s;
  }
};

TimingOptions options(double min_s, double slice_s) {
  TimingOptions options;
  options.slice_s = slice_s;
  options.rule.min_s = min_s;
  return options;
}

}  // namespace

TEST_CASE("a slice holds as many runs as fill it", "[timing]") {
  Counted counted;
  const auto measured = time_runs(std::ref(counted), options(0.01, 0.01));
  REQUIRE(measured.size() == 1);
  const TimedMeasurement& one = measured.front();
  CHECK(one.runs == 40 * static_cast<std::int64_t>(one.values.size()));  // 0.01 s / 0.25 ms
  for (const double seconds : one.values) CHECK(seconds == Approx(kRun_s));
  CHECK(one.window.second - one.window.first >= 0.01);
  CHECK(counted.runs > one.runs);  // the warm-up is not counted
}

TEST_CASE("without slices each run is a value", "[timing]") {
  Counted counted;
  const auto measured = time_runs(std::ref(counted), options(0.01, 0));
  CHECK(measured.front().runs == static_cast<std::int64_t>(measured.front().values.size()));
}

TEST_CASE("responses follow from the mean time, with a repeat for each measurement", "[timing]") {
  std::vector<TimedMeasurement> measured(2);
  measured[0].values = {1, 3};
  measured[1].values = {4};
  measured[0].runs = 2;
  measured[1].runs = 1;
  const std::vector<Derived> derived{{"time", [](double seconds) { return seconds; }},
                                     {"rate", [](double seconds) { return 8 / seconds; }}};
  const Result result = timed_result(measured, 3, derived);
  CHECK(result.repeats.at("time") == std::vector<double>{2, 4});
  CHECK(result.repeats.at("rate") == std::vector<double>{4, 2});
  CHECK(result.responses.at("time") == 3);
  CHECK(result.responses.at("rate") == 3);
  CHECK(result.notes["runs"] == 3);
  CHECK(result.notes["repeats"] == "2 of 3 measurements fit into the time limit");
}

TEST_CASE("as many measurements as asked, but a time that is over leaves one", "[timing]") {
  Counted counted;
  TimingOptions wanted = options(0.002, 0);
  wanted.repeats = 3;
  CHECK(time_runs(std::ref(counted), wanted).size() == 3);
  wanted.rule.deadline_s = 0;  // long ago
  wanted.rule.min_s = 1e6;
  wanted.warmup_s = 1e6;
  const auto measured = time_runs(std::ref(counted), wanted);
  CHECK(measured.size() == 1);
  CHECK(measured.front().stopped_by == doetune::measurement::StoppedBy::kTimeLimit);
  CHECK(timed_result(measured, 3, {}).notes.contains("time_limit"));
}
