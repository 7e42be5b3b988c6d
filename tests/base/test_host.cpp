#include <sys/utsname.h>
#include <catch2/catch.hpp>
#include <ctime>

#include "base/clock.h"
#include "base/hash.h"
#include "base/host.h"

using namespace doetune;

TEST_CASE("The host is named as uname names it", "[host]") {
  utsname names{};
  REQUIRE(uname(&names) == 0);
  CHECK(host_name() == names.nodename);
}

TEST_CASE("Processors are listed by ranges", "[host]") {
  CHECK(cpu_list({0, 1, 2, 3, 6}) == "0-3,6");
  CHECK(cpu_list({4}) == "4");
  CHECK(cpu_list({}).empty());
  CHECK_FALSE(usable_cpus().empty());
}

TEST_CASE("Times of day are UTC in ISO 8601 with milliseconds", "[clock]") {
  const std::string now = utc_now();
  REQUIRE(now.size() == std::string("2026-11-21T07:38:18.123Z").size());
  CHECK(now[10] == 'T');
  CHECK(now.back() == 'Z');
  CHECK(utc_seconds("1970-01-02T00:00:01.250Z") == 86401.25);
  CHECK(utc_seconds("2026-11-21T07:38:18Z") == 1795246698.0);  // by date -d
  CHECK(utc_seconds(now).value_or(0) == Approx(static_cast<double>(std::time(nullptr))).margin(2));
  for (const char* wrong :
       {"", "2026-11-21", "2026-11-21T07:38:18.123", "2026-11-21T07:38:18.123Zx"})
    CHECK_FALSE(utc_seconds(wrong));
}
