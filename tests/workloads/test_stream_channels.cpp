#include <catch2/catch.hpp>

#include <cmath>

#include "workloads/stream/sustained_channels.h"

using namespace doetune;
using namespace doetune::workloads;

TEST_CASE("the most channels are found to 2 %, in few probes", "[channels]") {
  for (const int limit : {1, 2, 3, 7, 50, 51, 64, 99, 1000, 12345}) {
    const auto found = find_sustained_channels(
        1, 100'000, [&](int channels) { return std::optional(channels / (limit + 0.5)); });
    CAPTURE(limit);
    CHECK(found.complete);
    CHECK(found.channels <= limit);
    CHECK(limit - found.channels <= std::max(0, found.channels / 50 - 1));
    CHECK(static_cast<double>(found.probes.size()) <= 3 + 2 * std::log2(limit + 1));
  }
}

TEST_CASE("a search that ends at its bounds says what it knows", "[channels]") {
  const auto none = find_sustained_channels(3, 100, [](int) { return std::optional(1.5); });
  CHECK(none.channels == 0);
  CHECK(none.complete);
  CHECK(none.probes.size() == 1);
  const auto all = find_sustained_channels(1, 100, [](int) { return std::optional(0.5); });
  CHECK(all.channels == 100);
  CHECK_FALSE(all.complete);
  int left = 4;
  const auto short_of_time = find_sustained_channels(1, 100'000, [&](int channels) {
    return left-- > 0 ? std::optional(channels / 20.0) : std::nullopt;
  });
  CHECK(short_of_time.channels == 8);
  CHECK_FALSE(short_of_time.complete);
}

TEST_CASE("noise moves what is found by no more than itself", "[channels]") {
  std::uint64_t state = 1;
  for (int round = 0; round < 100; ++round) {
    const auto found = find_sustained_channels(1, 100'000, [&](int channels) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const double noise = 0.05 * (static_cast<double>(state >> 11) / 9007199254740992.0 - 0.5);
      return std::optional(channels / 200.0 * (1 + noise));
    });
    CHECK(found.channels > 200 * 0.95);
    CHECK(found.channels < 200 * 1.05);
  }
}
