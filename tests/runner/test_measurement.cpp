// Sequential measurement: when it stops, and the coverage of its intervals.
#include <catch2/catch.hpp>

#include "runner/measurement/batch_means.h"
#include "runner/measurement/measurement.h"
#include "tests/runner/series.h"

using namespace doetune;
using measurement::Measurement;
using measurement::StoppedBy;
using measurement::StoppingRule;

namespace {

/// Measures values, each also its own duration, until the measurement stops or they are exhausted.
Measurement measured(const StoppingRule& rule, const std::vector<double>& values,
                     double start_s = 0) {
  Measurement measurement(rule, start_s);
  double now_s = start_s;
  for (const double value : values) {
    if (measurement.stopped_by()) break;
    measurement.add(value, now_s += value);
  }
  return measurement;
}

/// Doubled at first, with an excess that decays by a factor e every `decay` values.
std::vector<double> warming_up(std::vector<double> values, double decay) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += std::exp(-static_cast<double>(i) / decay);
  return values;
}

std::vector<double> noise(std::size_t count, double spread, std::uint64_t stream = 1) {
  RandomStream random(11, stream);
  return tests::autoregression(count, 0, spread, random);
}

}  // namespace

TEST_CASE("Without a precision the least time and count decide", "[measurement]") {
  StoppingRule rule;
  rule.min_s = 4.5;
  rule.min_count = 3;
  auto result = measured(rule, std::vector<double>(100, 1.0), 1000);
  CHECK(result.stopped_by() == StoppedBy::kMinTime);
  CHECK(result.end_s() == 1005);
  CHECK(result.begin_s() == 1000);
  CHECK_FALSE(result.steady());  // too few values
  rule.min_count = 30;
  result = measured(rule, std::vector<double>(100, 1.0));
  CHECK(result.end_s() == 30);
  CHECK(result.steady() == true);
}

TEST_CASE("What is measured for a fixed time counts whole, and is steady only as a whole",
          "[measurement]") {
  auto values = noise(100, 0.02);
  for (std::size_t i = 0; i < 20; ++i) values[i] += 1;
  StoppingRule rule;
  rule.min_count = 100;
  const auto result = measured(rule, values);
  CHECK(result.begin() == 0);
  CHECK(result.steady() == false);
  CHECK(result.steadiness()->begin == 20);
}

TEST_CASE("With a precision the warm-up is left out and the rest is as precise as wanted",
          "[measurement]") {
  StoppingRule rule;
  rule.precision = 0.01;
  double total_s = 0;
  for (std::uint64_t stream = 1; stream <= 20; ++stream) {
    const auto result = measured(rule, warming_up(noise(10000, 0.1, stream), 10), 7);
    CHECK(result.stopped_by() == StoppedBy::kPrecision);
    CHECK(result.steady() == true);
    CHECK(result.begin() >= 15);
    CHECK(result.begin_s() > 7 + 15);
    total_s += result.end_s() - result.begin_s();
  }
  // (1.96 * 0.1 / 0.01)^2 = 384 values, and more because of Student's t and two checks in a row
  CHECK(total_s / 20 == Approx(560).margin(60));
}

TEST_CASE("Least time, count and quantiles are waited for", "[measurement]") {
  const auto values = noise(3000, 0.001);
  StoppingRule rule;
  rule.precision = 0.01;
  const auto end_s = [&] { return measured(rule, values).end_s(); };
  CHECK(end_s() == Approx(24).margin(0.1));
  rule.min_s = 100;
  CHECK(end_s() == Approx(100).margin(1));
  rule.min_count = 200;
  CHECK(end_s() == Approx(200).margin(1));
  rule.quantiles = {0.5, 0.99};
  CHECK(end_s() == Approx(662).margin(1));
}

TEST_CASE("A value that completes the minimum time but makes the mean imprecise is not the last",
          "[measurement]") {
  auto values = noise(3000, 0.001);
  values[99] = 10;
  StoppingRule rule;
  rule.precision = 0.05;
  rule.min_s = 105;
  Measurement measurement(rule, 0);
  double now_s = 0;
  std::size_t count = 0;
  for (; !measurement.stopped_by() && count < values.size(); ++count)
    measurement.add(values[count], now_s += values[count]);
  CHECK(measurement.stopped_by() == StoppedBy::kPrecision);
  const auto used = std::span(values).first(count).subspan(measurement.begin());
  CHECK(measurement::mean_interval(used)->relative().value() <= 0.05);
}

TEST_CASE("max_time and the deadline end what will not become precise", "[measurement]") {
  const auto values = noise(10000, 0.01);
  StoppingRule rule;
  rule.precision = 1e-6;
  rule.max_s = 50;
  auto result = measured(rule, values, 10);
  CHECK(result.stopped_by() == StoppedBy::kMaxTime);
  CHECK(result.end_s() - 10 == Approx(50.5).margin(0.6));
  rule.deadline_s = 40;
  result = measured(rule, values, 10);
  CHECK(result.stopped_by() == StoppedBy::kTimeLimit);
  CHECK(result.end_s() <= 40.1);
  CHECK(result.end_s() > 38);
}

TEST_CASE("max_time alone waits until the values are steady", "[measurement]") {
  StoppingRule rule;
  rule.max_s = 500;
  const auto result = measured(rule, warming_up(noise(1000, 0.02), 10));
  CHECK(result.stopped_by() == StoppedBy::kMinTime);
  CHECK(result.steady() == true);
  CHECK(result.begin() >= 25);  // exp(-2.5) is four standard deviations
  CHECK(result.end_s() < 200);
}

TEST_CASE("What never becomes steady is said to be so, and its last half counts", "[measurement]") {
  auto values = noise(2000, 0.02);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += 0.01 * static_cast<double>(i);
  StoppingRule rule;
  rule.precision = 0.05;
  rule.max_s = 300;
  const auto result = measured(rule, values);
  CHECK(result.stopped_by() == StoppedBy::kMaxTime);
  CHECK(result.steady() == false);
  CHECK(result.steadiness()->change > 0.1);
  CHECK(result.begin_s() > 60);
}

TEST_CASE("Stopping at a precision costs the interval little of its confidence",
          "[measurement][long]") {
  const auto coverage = [](double correlation, double precision) {
    return tests::rate(300, [&](auto& random) {
      const auto values = tests::autoregression(20000, correlation, 0.2, random);
      StoppingRule rule;
      rule.precision = precision;
      const Measurement result = measured(rule, values);
      const std::size_t count =
          static_cast<std::size_t>(std::find_if(values.begin(), values.end(),
                                                [&, sum = 0.0](double value) mutable {
                                                  return (sum += value) >= result.end_s() - 1e-9;
                                                }) -
                                   values.begin() + 1);
      const auto interval =
          measurement::mean_interval(std::span(values).first(count).subspan(result.begin()));
      return std::abs(interval->value - 1) <= interval->half_width;
    });
  };
  CHECK(coverage(0, 0.02) > 0.92);
  CHECK(coverage(0, 0.05) > 0.92);
  CHECK(coverage(0.5, 0.02) > 0.92);
  CHECK(coverage(0.8, 0.02) > 0.92);
  CHECK(coverage(0.8, 0.05) == Approx(0.88).margin(0.06));  // sometimes stops after 30 values
}
