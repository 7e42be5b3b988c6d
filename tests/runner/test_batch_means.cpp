// Coverage of the confidence intervals by batch means, by simulation.
#include <catch2/catch.hpp>

#include <numeric>

#include "runner/measurement/batch_means.h"
#include "tests/runner/series.h"

using namespace doetune;
using measurement::mean_interval;
using measurement::ratio_interval;
using tests::autoregression;
using tests::rate;

namespace {

using Values = std::vector<double>;

constexpr int kRepetitions = 1000;
constexpr double kError = 0.021;  // three standard errors of a rate of 95 % in kRepetitions

/// Coverage of the mean, which is 1.
double coverage(std::size_t count, double correlation) {
  return rate(kRepetitions, [&](auto& random) {
    const auto interval = mean_interval(autoregression(count, correlation, 0.2, random));
    return std::abs(interval->value - 1) <= interval->half_width;
  });
}

}  // namespace

TEST_CASE("Of independent values 95 % of the intervals hold the mean, whatever their number",
          "[measurement][batch-means]") {
  const std::size_t count = GENERATE(8, 12, 20, 50, 200, 1000);
  CAPTURE(count);
  CHECK(coverage(count, 0) == Approx(0.955).margin(kError + 0.01));
}

TEST_CASE(
    "Values that are correlated have wider intervals, which hold the mean where the series is "
    "long enough",
    "[measurement][batch-means]") {
  CHECK(coverage(100, 0.5) > 0.95 - kError);
  CHECK(coverage(1000, 0.5) > 0.95 - kError);
  CHECK(coverage(500, 0.8) > 0.95 - kError);
  CHECK(coverage(1000, 0.9) > 0.95 - kError);
  CHECK(coverage(5000, 0.9) > 0.95 - kError);
  // The stated limit: series shorter than thirty correlation lengths.
  CHECK(coverage(60, 0.8) == Approx(0.88).margin(0.03));
  CHECK(coverage(20, 0.9) == Approx(0.65).margin(0.06));
  // For comparison, the interval for independent values has a coverage of 35 %.
  const double naive = rate(kRepetitions, [](auto& random) {
    const Values values = autoregression(1000, 0.9, 0.2, random);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 1000;
    return std::abs(mean - 1) <= 1.96 * 0.2 / std::sqrt(1000);
  });
  CHECK(naive < 0.4);
}

TEST_CASE("Intervals of skewed values hold the mean from some 200 values on",
          "[measurement][batch-means]") {
  const auto lognormal = [](std::size_t count) {  // skewness 6.2
    return rate(kRepetitions, [&](auto& random) {
      Values values;
      for (std::size_t i = 0; i < count; ++i)
        values.push_back(std::exp(tests::random_normal(random)));
      const auto interval = mean_interval(values);
      return std::abs(interval->value - std::exp(0.5)) <= interval->half_width;
    });
  };
  CHECK(lognormal(200) == Approx(0.94).margin(kError));
  CHECK(lognormal(1000) > 0.95 - kError);
  CHECK(lognormal(20) == Approx(0.88).margin(0.03));
}

TEST_CASE("A ratio's interval holds it, and is that of the mean where the denominator is constant",
          "[measurement][batch-means]") {
  CHECK(rate(kRepetitions, [](auto& random) {  // images over time, which vary together
          Values images, times;
          for (int i = 0; i < 100; ++i) {
            images.push_back(80 + 20 * random.uniform());
            times.push_back(images.back() / 500 * (1 + 0.1 * tests::random_normal(random)));
          }
          const auto interval = ratio_interval(images, times);
          return std::abs(interval->value - 500) <= interval->half_width;
        }) == Approx(0.955).margin(kError + 0.01));
  RandomStream random(1, 1);
  const Values values = autoregression(100, 0.3, 0.2, random);
  const auto mean = mean_interval(values);
  const auto ratio = ratio_interval(values, Values(100, 4.0));
  CHECK(ratio->value == Approx(mean->value / 4));
  CHECK(ratio->half_width == Approx(mean->half_width / 4));
}

TEST_CASE("Eight independent values have Student's interval", "[measurement][batch-means]") {
  // Mean 4.5, s = sqrt(6), no positive autocorrelation; t with 7 degrees of freedom is 2.364624.
  const auto interval = mean_interval(Values{1, 8, 3, 6, 2, 7, 4, 5});
  CHECK(interval->value == 4.5);
  CHECK(interval->half_width == Approx(2.364624 * std::sqrt(6.0 / 8)));
  CHECK(interval->batches == 8);
  CHECK(interval->independent);
  CHECK(*interval->relative() == Approx(interval->half_width / 4.5));
}

TEST_CASE("Repeats have Student's interval from two on", "[measurement][batch-means]") {
  const auto interval = measurement::independent_interval(Values{1, 3});
  CHECK(interval->value == 2);
  CHECK(interval->half_width == Approx(12.7062));  // t with 1 degree of freedom, s / sqrt(2) = 1
  CHECK_FALSE(measurement::independent_interval(Values{1}));
}

TEST_CASE("Batches that are correlated however large are reported", "[measurement][batch-means]") {
  Values rising(200);
  std::iota(rising.begin(), rising.end(), 1.0);
  CHECK_FALSE(mean_interval(rising)->independent);
}

TEST_CASE("An interval that does not exist is empty", "[measurement][batch-means]") {
  CHECK_FALSE(mean_interval(Values(7, 1.0)));
  CHECK_FALSE(mean_interval(Values{}));
  CHECK_FALSE(ratio_interval(Values(10, 1.0), Values(10, 0.0)));
  CHECK_FALSE(ratio_interval(Values(10, 1.0), Values(9, 1.0)));
  CHECK(mean_interval(Values(10, 2.0))->half_width == 0);
  CHECK_FALSE(mean_interval(Values(10, 0.0))->relative());
}
