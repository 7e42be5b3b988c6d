#include <catch2/catch.hpp>
#include <cmath>

#include "tests/doe/factors.h"

using namespace doetune;
using namespace doetune::tests;

TEST_CASE("Coding maps the range to [-1, 1] on the factor's scale", "[doe][factor]") {
  // NIST/SEMATECH e-Handbook 5.3.3.2: the centre of the range is 0.
  const doe::Factor rate = continuous("rate", 1, 9);
  CHECK(rate.to_coded(1) == -1);
  CHECK(rate.to_coded(5) == 0);
  CHECK(rate.to_coded(9) == 1);
  const doe::Factor batch = powers_of_two("batch", {1, 2, 4, 8, 16, 32, 64});
  CHECK(batch.to_coded(8) == 0);  // the centre of 2^0 .. 2^6
  CHECK(batch.to_coded(2) == Approx(-2.0 / 3).epsilon(1e-15));
}

TEST_CASE("Coding and back is the identity", "[doe][factor]") {
  doe::Factor log10 = continuous("rate", 1e-5, 1e-1);
  log10.scale = doe::Scale::kLog10;
  for (const doe::Factor& factor :
       {continuous("a", -3, 17), log10, powers_of_two("b", {1, 2, 4, 8, 16}), whole("c", 1, 7)}) {
    for (const double x : factor.usable_settings()) {
      CHECK(factor.to_natural(factor.to_coded(x)) == Approx(x).epsilon(1e-13).margin(1e-14));
    }
    CHECK(factor.to_natural(-1) == factor.low);
    CHECK(factor.to_natural(1) == factor.high);
  }
}

TEST_CASE("Snapping gives the nearest usable setting on the factor's scale", "[doe][factor]") {
  const doe::Factor batch = powers_of_two("batch", {1, 2, 4, 8});
  CHECK(batch.snap(5.6) == 4);  // log2(5.6) = 2.49
  CHECK(batch.snap(5.7) == 8);  // log2(5.7) = 2.51
  CHECK(whole("executors", 1, 3).snap(2.4) == 2);
  CHECK(whole("executors", 1, 3).snap(17) == 3);
  CHECK(continuous("rate", 1, 9).snap(4.5678) == 4.57);  // the largest power of ten <= 8 / 100
  doe::Factor stepped = continuous("memory", 0.5, 4.5);
  stepped.step = 0.25;
  CHECK(stepped.snap(1.30) == 1.25);
}

TEST_CASE("Steps print as they were written", "[doe][factor]") {
  doe::Factor stepped = continuous("a", 0.1, 0.5);
  stepped.step = 0.1;
  CHECK(stepped.usable_settings() == std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5});
}

TEST_CASE("Every usable setting is one that snapping leaves alone", "[doe][factor]") {
  doe::Factor log = continuous("learning_rate", 0.0003, 0.1);
  log.scale = doe::Scale::kLog10;
  doe::Factor stepped = continuous("memory", 0.5, 4.5);
  stepped.step = 0.25;
  for (const doe::Factor& factor : {continuous("rate", 1, 9), continuous("wide", -1e6, 1e6), log,
                                    stepped, whole("n", -2, 5), words("w", {"x", "y", "z"})}) {
    const std::vector<double> settings = factor.usable_settings();
    REQUIRE(settings.size() >= 2);
    CHECK(settings.size() <= 1002);
    for (const double x : settings) {
      CHECK(factor.snap(x) == x);
      CHECK(factor.allows(x));
    }
    CHECK(std::is_sorted(settings.begin(), settings.end()));
  }
}

TEST_CASE("Settings read back as they were written", "[doe][factor]") {
  const doe::Factor rate = continuous("rate", 0, 1);
  for (const double x : {0.1, 1.0 / 3, 5e-324, 1e300, 0.30000000000000004}) {
    CHECK(rate.parse(rate.format(x)) == x);
  }
  CHECK(rate.format(5) == "5");
  CHECK(rate.format(-0.0) == "0");
  CHECK_FALSE(rate.parse("5 Hz"));
  CHECK_FALSE(rate.parse("nan"));
  CHECK_FALSE(rate.parse("inf"));
  const doe::Factor precision = words("precision", {"fp32", "bf16"});
  CHECK(precision.parse("bf16") == 1.0);
  CHECK(precision.format(0) == "fp32");
  CHECK_FALSE(precision.parse("fp16"));
}

TEST_CASE("Case matters only between levels that differ in nothing else", "[doe][factor]") {
  const doe::Factor flag = words("flag", {"true", "false"});
  CHECK(flag.parse("False") == 1.0);
  CHECK(flag.parse("TRUE") == 0.0);
  CHECK_FALSE(flag.parse("Tru"));
  const doe::Factor both = words("both", {"a", "A", "b"});
  CHECK(both.parse("A") == 1.0);
  CHECK(both.parse("B") == 2.0);
  CHECK_FALSE(words("both", {"ab", "AB"}).parse("Ab"));
}

TEST_CASE("Usable settings are those that snapping leaves alone, whatever the step",
          "[doe][factor]") {
  for (const double step : {0.1, 0.25, 0.3, 0.4, 0.6, 0.7, 0.9, 1.0}) {
    doe::Factor factor = continuous("a", 0, 1);
    factor.step = step;
    for (const double setting : factor.usable_settings()) CHECK(factor.snap(setting) == setting);
  }
}
