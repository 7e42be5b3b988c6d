#include <catch2/catch.hpp>

#include <cmath>
#include <numeric>

#include "runner/measurement/quantile.h"
#include "tests/runner/series.h"

using namespace doetune;
using measurement::min_count;
using measurement::quantile_interval;

namespace {

/// P(B <= k), summed term by term.
double binomial_sum(int k, int n, double p) {
  double sum = 0;
  for (int i = 0; i <= k; ++i)
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) +
                    i * std::log(p) + (n - i) * std::log1p(-p));
  return sum;
}

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);  // unsorted
  return values;
}

}  // namespace

TEST_CASE("The counts are those of MLPerf's LoadGen", "[measurement][quantile]") {
  CHECK(min_count(0.90) == 64);
  CHECK(min_count(0.99) == 662);
}

TEST_CASE("A count is the smallest that passes the binomial test", "[measurement][quantile]") {
  for (const double q : {0.5, 0.75, 0.9, 0.95, 0.99, 0.999}) {
    for (const double confidence : {0.9, 0.99, 0.999}) {
      const auto n = static_cast<int>(min_count(q, confidence));
      CAPTURE(q, confidence, n);
      CHECK(binomial_sum(1, n, 1 - q) <= 1 - confidence);
      CHECK(binomial_sum(1, n - 1, 1 - q) > 1 - confidence);
    }
  }
  CHECK(min_count(0.01) == min_count(0.99));  // symmetric in q
  CHECK_THROWS_AS(min_count(1), std::invalid_argument);
  CHECK_THROWS_AS(min_count(0.5, 0), std::invalid_argument);
}

TEST_CASE("A quantile is an order statistic, and is not given below its count",
          "[measurement][quantile]") {
  CHECK(quantile_interval(one_to(1000), 0.99)->value == 990);
  CHECK(quantile_interval(one_to(101), 0.5)->value == 51);
  CHECK(quantile_interval(one_to(100), 0.5)->value == 50);
  CHECK(quantile_interval(one_to(662), 0.99));
  CHECK_FALSE(quantile_interval(one_to(661), 0.99));
  CHECK_FALSE(quantile_interval({}, 0.5));
}

TEST_CASE("The bounds are the tightest whose binomial tails are 2.5 % at most",
          "[measurement][quantile]") {
  for (const int n : {11, 64, 100, 662, 2000}) {
    for (const double q : {0.5, 0.9, 0.99}) {
      const auto interval = quantile_interval(one_to(n), q);
      if (!interval) continue;
      CAPTURE(n, q);
      const auto low = static_cast<int>(interval->low);  // the value is its rank
      const auto high = static_cast<int>(interval->high);
      CHECK((low == 1 || binomial_sum(low - 1, n, q) <= 0.025));
      CHECK(binomial_sum(low, n, q) > 0.025);
      CHECK((high == n || 1 - binomial_sum(high - 1, n, q) <= 0.025));
      CHECK(1 - binomial_sum(high - 2, n, q) > 0.025);
      CHECK((interval->low <= interval->value && interval->value <= interval->high));
    }
  }
}

TEST_CASE("The interval of a quantile holds it", "[measurement][quantile]") {
  CHECK(tests::rate(1000, [](auto& random) {
          std::vector<double> values(1000);
          for (double& value : values) value = random.uniform();
          const auto interval = quantile_interval(values, 0.99);
          return interval->low <= 0.99 && 0.99 <= interval->high;
        }) > 0.95 - 0.021);
}
