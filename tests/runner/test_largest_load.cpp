// The search of the largest load that keeps limits, against systems whose answer is known.
#include "runner/search/largest_load.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <utility>

namespace doetune::runner {
namespace {

doe::Factor load(double low, double high, doe::FactorKind kind = doe::FactorKind::kContinuous) {
  doe::Factor factor;
  factor.name = "rate";
  factor.kind = kind;
  factor.low = low;
  factor.high = high;
  return factor;
}

/// Searches where the excess at a load is known.
template <class Excess>
LargestLoad searched(const doe::Factor& factor, Excess excess, double half_width = 0) {
  LargestLoad search(factor);
  while (const auto at = search.next()) search.add({*at, excess(*at), half_width});
  return search;
}

/// The mean time in an M/M/1 queue of capacity 100 over its limit of 0.05: kept up to a rate of 80
/// (queueing theory: 1 / (capacity - rate)). Beyond its capacity, as measured for a while.
double queue(double rate) {
  const double time = rate < 99.9 ? 1 / (100 - rate) : 10;
  return time / 0.05 - 1;
}

TEST_CASE("the largest load of a queue is found to 5 % in few calls", "[search]") {
  for (const double low : {0.5, 3.0, 20.0, 79.0}) {
    for (const double high : {85.0, 200.0, 5000.0}) {
      const LargestLoad search = searched(load(low, high), queue);
      CAPTURE(low, high, search.probes().size());
      REQUIRE(search.kept() != nullptr);
      CHECK(search.kept()->load <= 80);
      CHECK(search.exceeded()->load > 80);
      CHECK(search.exceeded()->load <= 1.05 * search.kept()->load);
      CHECK(search.probes().size() <= 12);
    }
  }
}

TEST_CASE("a search begins at the baseline", "[search]") {
  doe::Factor factor = load(1, 1000);
  factor.baseline = 300;
  const LargestLoad search = searched(factor, queue);
  CHECK(search.probes().front().load == 300);
  CHECK(search.kept()->load <= 80);
  CHECK(search.exceeded()->load <= 1.05 * search.kept()->load);
}

TEST_CASE("integers, steps and levels end at adjacent settings", "[search]") {
  const auto at_most = [](double limit) { return [=](double at) { return at / limit - 1; }; };
  for (int truth = 1; truth < 20; ++truth) {
    const auto integers = searched(load(1, 20, doe::FactorKind::kInteger), at_most(truth + 0.5));
    CHECK(integers.kept()->load == truth);
    CHECK(integers.exceeded()->load == truth + 1);
  }
  doe::Factor levels = load(1, 64, doe::FactorKind::kDiscrete);
  levels.levels = {1, 2, 4, 8, 16, 32, 64};
  CHECK(searched(levels, at_most(15)).kept()->load == 8);
  doe::Factor steps = load(0.5, 10);
  steps.step = 0.5;
  const auto stepped = searched(steps, at_most(3.3));
  CHECK(stepped.kept()->load == 3);
  CHECK(stepped.exceeded()->load == 3.5);
}

TEST_CASE("limits that no load and that every load keeps end the search", "[search]") {
  const auto never = searched(load(2, 50), [](double) { return 0.3; });
  CHECK(never.kept() == nullptr);
  CHECK(never.probes().size() == 1);
  const auto always = searched(load(2, 50), [](double) { return -0.3; });
  CHECK(always.kept()->load == 50);
  CHECK(always.exceeded() == nullptr);
  CHECK_FALSE(always.interval().second);
}

TEST_CASE("one disturbed measurement does not bound the answer", "[search]") {
  bool disturbed = false;
  const auto search = searched(load(1, 500), [&](double at) {
    return at > 10 && !std::exchange(disturbed, true) ? 12.0 : queue(at);
  });
  CHECK(search.kept()->load > 75);
  CHECK(search.interval().first > 70);
}

TEST_CASE("a load that cannot be measured ends the bracket like one that exceeds limits",
          "[search]") {
  const auto search = searched(load(1, 100, doe::FactorKind::kInteger),
                               [](double at) { return at > 40 ? INFINITY : -0.5; });
  CHECK(search.kept()->load >= 39);
  CHECK(search.kept()->load <= 40);
}

// By simulation: the interval from probes with normal errors of known size holds the truth about as
// often as theirs do, and is not much wider than these errors make the answer uncertain.
TEST_CASE("the interval of a noisy search holds the truth", "[search]") {
  constexpr int kSearches = 500;
  constexpr double kError = 0.03;  // standard error of the excess
  std::mt19937_64 random(7);
  std::normal_distribution<double> error(0, kError);
  for (const bool queueing : {false, true}) {
    int held = 0;
    double width = 0;
    for (int i = 0; i < kSearches; ++i) {
      const auto excess = [&](double at) {
        return queueing ? queue(at) + (queue(at) + 1) * error(random) : at / 80 - 1 + error(random);
      };
      const auto [low, high] = searched(load(1, 500), excess, 1.96 * kError).interval();
      REQUIRE(high);
      held += low <= 80 && *high >= 80 ? 1 : 0;
      width += *high / low / kSearches;
    }
    CAPTURE(queueing, held, width);
    CHECK(held >= 0.93 * kSearches);
    CHECK(width < 1.2);
  }
}

}  // namespace
}  // namespace doetune::runner
