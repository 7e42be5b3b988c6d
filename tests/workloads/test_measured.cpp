// Percentiles and series of results that several workloads share.
#include <catch2/catch.hpp>

#include <numeric>

#include "workloads/timing/measured.h"

using namespace doetune::workloads;

namespace {

std::vector<double> from_1_to(int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

}  // namespace

TEST_CASE("a percentile is the mean of those of the measurements", "[timing]") {
  Result result;
  add_percentile("time_p50", 0.5, {from_1_to(99), from_1_to(199)}, {"runs", "run longer"}, result);
  CHECK(result.responses.at("time_p50") == Approx((50 + 100) / 2.0));
  CHECK(result.repeats.at("time_p50") == std::vector<double>{50, 100});
  CHECK(result.precision.contains("time_p50"));
}

TEST_CASE("a percentile of too few values is a note", "[timing]") {
  Result result;
  add_percentile("time_p99", 0.99, {from_1_to(700), from_1_to(20)}, {"runs", "run longer"}, result);
  CHECK_FALSE(result.responses.contains("time_p99"));
  CHECK(result.notes["time_p99"] ==
        "a 99 % quantile needs 662 runs, but 20 were measured; run longer");
}

TEST_CASE("a long series is reported as means of consecutive values", "[timing]") {
  Result result;
  add_series("short", from_1_to(3), "runs", result);
  CHECK(result.series.at("short") == std::vector<double>{1, 2, 3});
  CHECK_FALSE(result.notes.contains("series"));
  add_series("long", from_1_to(25'001), "runs", result);
  const auto& series = result.series.at("long");
  CHECK(series.size() <= kLongestSeries);
  CHECK(series.front() == Approx(2));
  CHECK(series.back() == Approx(25'000.5));  // the last two
  CHECK(result.notes["series"] == "means of 3 runs each");
}
