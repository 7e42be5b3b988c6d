// Error rates of the steady-state detector, by simulation.
#include <catch2/catch.hpp>

#include <functional>
#include <numbers>

#include "runner/measurement/steady.h"
#include "tests/runner/series.h"

using namespace doetune;
using measurement::assess;
using measurement::SteadyDetector;
using tests::autoregression;
using tests::rate;

namespace {

using SteadyValues = std::vector<double>;
using Shape = std::function<double(double)>;  ///< as a function of time from 0 to 1

constexpr int kSteadyRepetitions = 400;

/// Independent noise of 10 % about 1, plus a shape.
SteadyValues shaped(std::size_t count, RandomStream& random, const Shape& shape,
                    double spread = 0.1) {
  SteadyValues values = autoregression(count, 0, spread, random);
  for (std::size_t i = 0; i < count; ++i)
    values[i] += shape(static_cast<double>(i) / static_cast<double>(count));
  return values;
}

double steady_rate(std::size_t count, const Shape& shape) {
  return rate(kSteadyRepetitions,
              [&](auto& random) { return assess(shaped(count, random, shape))->steady; });
}

}  // namespace

TEST_CASE("Independent noise is steady from the beginning, 3 % false alarms at most",
          "[measurement][steady]") {
  const std::size_t count = GENERATE(20, 60, 127, 128, 300, 1000);
  CAPTURE(count);
  CHECK(rate(kSteadyRepetitions, [&](auto& random) {
          const auto assessed = assess(autoregression(count, 0, 0.1, random));
          return assessed->steady && assessed->begin == 0;
        }) > 0.97);
}

TEST_CASE("Noise with long tails is steady, and so is a series with a value far out of line",
          "[measurement][steady]") {
  const std::size_t count = GENERATE(30, 120, 1000);
  CAPTURE(count);
  const auto with_outlier = [&](double at) {
    return rate(kSteadyRepetitions, [&](auto& random) {
      SteadyValues values = autoregression(count, 0, 0.1, random);
      values[static_cast<std::size_t>(at * static_cast<double>(count))] = 100;
      const auto assessed = assess(values);
      return assessed->steady && assessed->begin == 0;
    });
  };
  for (const double at : {0.1, 0.5, 0.999}) CHECK(with_outlier(at) > 0.96);
  CHECK(rate(kSteadyRepetitions, [&](auto& random) {  // no mean: the ratio of two normal numbers
          SteadyValues values;
          for (std::size_t i = 0; i < count; ++i)
            values.push_back(1 +
                             std::abs(tests::random_normal(random) / tests::random_normal(random)));
          return assess(values)->steady;
        }) > 0.96);
}

TEST_CASE("Correlated values are distinguished from a drift once there are enough of them",
          "[measurement][steady]") {
  const auto steady = [](double correlation, std::size_t count) {
    return rate(kSteadyRepetitions, [&](auto& random) {
      return assess(autoregression(count, correlation, 0.1, random))->steady;
    });
  };
  CHECK(steady(0.5, 120) > 0.95);
  CHECK(steady(0.8, 300) > 0.94);
  CHECK(steady(0.9, 1000) > 0.95);
  CHECK(steady(0.9, 60) < 0.5);  // the stated limit
}

TEST_CASE("A drift is found: by 2 standard deviations in 120 values, by 4 in 60",
          "[measurement][steady]") {
  CHECK(steady_rate(120, [](double t) { return 0.2 * t; }) < 0.1);
  CHECK(steady_rate(60, [](double t) { return 0.4 * t; }) < 0.4);
  CHECK(steady_rate(120, [](double t) { return -0.4 * t; }) < 0.15);
  CHECK(steady_rate(300, [](double t) { return 0.4 * t; }) < 0.03);
  CHECK(steady_rate(1000, [](double t) { return -0.2 * t; }) < 0.06);
}

TEST_CASE("A step in the second half is found, also near the end", "[measurement][steady]") {
  const auto step = [](double at, double height) {
    return [=](double t) { return t >= at ? height : 0; };
  };
  CHECK(steady_rate(30, step(0.7, 0.2)) < 0.4);
  CHECK(steady_rate(60, step(0.7, 0.2)) < 0.15);
  CHECK(steady_rate(300, step(0.7, 0.1)) < 0.15);
  CHECK(steady_rate(120, step(0.9, 0.4)) < 0.02);
  CHECK(steady_rate(1000, step(0.9, -0.4)) < 0.05);
}

TEST_CASE("The steady part begins where a warm-up ends", "[measurement][steady]") {
  const auto found = [](std::size_t count, const Shape& shape, double from, double to) {
    return rate(kSteadyRepetitions, [&](auto& random) {
      const auto assessed = assess(shaped(count, random, shape));
      const double begin = static_cast<double>(assessed->begin) / static_cast<double>(count);
      return assessed->steady && begin >= from && begin <= to;
    });
  };
  const Shape slow_first_fifth = [](double t) { return t < 0.2 ? 0.3 : 0; };
  CHECK(found(60, slow_first_fifth, 0.15, 0.3) > 0.9);
  CHECK(found(120, slow_first_fifth, 0.17, 0.3) > 0.95);
  CHECK(found(1000, slow_first_fifth, 0.19, 0.3) > 0.95);
  // Decays from 8 standard deviations: at most 2.4 are left.
  CHECK(found(
            300, [](double t) { return 0.8 * std::exp(-t / 0.05); }, 0.06, 0.5) > 0.9);
}

TEST_CASE(
    "A short warm-up is found in a series of any length, one value of it where that is far off",
    "[measurement][steady]") {
  const std::size_t count = GENERATE(30, 120, 130, 1000, 20000);
  const std::size_t warmup = GENERATE(1, 3, 6, 14);
  CAPTURE(count, warmup);
  RandomStream random(5, count + warmup);
  SteadyValues values = autoregression(count, 0, 0.05, random);
  for (std::size_t i = 0; i < warmup; ++i) values[i] += 1;
  const auto assessed = assess(values);
  CHECK(assessed->steady);
  CHECK(assessed->begin >= warmup);
  CHECK(assessed->begin <= std::max(3 * warmup, count / 64));
}

TEST_CASE("A pattern is steady where the series holds three of its periods or more, not below one",
          "[measurement][steady]") {
  const auto swings = [](double periods) {
    return [=](double t) { return 0.3 * std::sin(2 * std::numbers::pi * periods * t); };
  };
  for (const double periods : {3.0, 6.0, 20.0}) CHECK(steady_rate(120, swings(periods)) > 0.95);
  CHECK(steady_rate(120, swings(0.5)) < 0.05);
  CHECK(steady_rate(300, swings(1)) < 0.05);
  CHECK(rate(kSteadyRepetitions, [](auto& random) {  // every eighth value takes a third longer
          SteadyValues values = autoregression(200, 0, 0.02, random);
          for (std::size_t i = 0; i < values.size(); i += 8) values[i] += 0.3;
          return assess(values)->steady && assess(values)->begin == 0;
        }) > 0.97);
}

TEST_CASE("A change below the tolerance is none, and one above it is reported with its sign",
          "[measurement][steady]") {
  RandomStream random(1, 1);
  const auto drifting = [&](double change) {
    return shaped(
        120, random, [=](double t) { return change * t; }, 1e-4);
  };
  CHECK(assess(drifting(0.005))->steady);
  CHECK_FALSE(assess(drifting(0.05))->steady);
  CHECK(assess(drifting(0.05), 0.1)->steady);
  CHECK_FALSE(assess(drifting(0.005), 0.001)->steady);
  CHECK(assess(drifting(0.08))->change == Approx(0.03).margin(0.01));  // over the last half
  CHECK(assess(drifting(-0.08))->change == Approx(-0.03).margin(0.01));
  const auto step = assess(shaped(
      120, random, [](double t) { return t < 0.9 ? 0 : 0.5; }, 0.01));
  CHECK_FALSE(step->steady);
  CHECK(step->change == Approx(0.5).margin(0.05));
  CHECK(step->begin == 60);
}

TEST_CASE("What has no noise is assessed as well", "[measurement][steady]") {
  CHECK(assess(SteadyValues(100, 3.0))->steady);
  CHECK(assess(SteadyValues(100, 0.0))->steady);
  CHECK(assess(SteadyValues(100, 3.0))->change == 0);
  SteadyValues step(100, 1.0);
  std::fill(step.begin() + 70, step.end(), 2.0);
  CHECK_FALSE(assess(step)->steady);
  std::fill(step.begin() + 10, step.end(), 2.0);
  CHECK(assess(step)->steady);
  CHECK(assess(step)->begin == 10);
}

TEST_CASE("Fewer than 20 values are not assessed", "[measurement][steady]") {
  CHECK_FALSE(assess(SteadyValues(19, 1.0)));
  CHECK(assess(SteadyValues(20, 1.0)));
}

TEST_CASE("Online and at once are the same, however long the series", "[measurement][steady]") {
  RandomStream random(3, 1);
  const SteadyValues values = shaped(5000, random, [](double t) { return t < 0.3 ? 0.5 : 0; });
  SteadyDetector online;
  for (std::size_t i = 0; i < values.size(); ++i) {
    online.add(values[i]);
    if (i % 97 != 0) continue;
    const auto now = online.assess();
    const auto then = assess(std::span(values).first(i + 1));
    REQUIRE(now.has_value() == then.has_value());
    if (!now) continue;
    CHECK(now->steady == then->steady);
    CHECK(now->begin == then->begin);
  }
  CHECK(online.assess()->begin == Approx(1500).margin(150));
}

TEST_CASE("What is not steady is described in a sentence", "[measurement][steady]") {
  using measurement::unsteady_sentence;
  CHECK(unsteady_sentence("latency", {true, 0, 0.5}, 100).empty());
  CHECK(unsteady_sentence("latency", {false, 50, 0.083}, 100) ==
        "latency never became steady: its level still rose by 8.3 %");
  CHECK(unsteady_sentence("latency", {false, 50, -0.5}, 100) ==
        "latency never became steady: its level still fell by 50 %");
  CHECK(unsteady_sentence("latency", {false, 50, INFINITY}, 100) == "latency never became steady");
  CHECK_THAT(unsteady_sentence("latency", {true, 12, 0}, 100),
             Catch::Contains("the first 12 of 100 values"));
}
