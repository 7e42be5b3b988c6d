// The ports of servers on this machine.
#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

#include "runner/servers/local_server.h"

using doetune::runner::free_port;

TEST_CASE("a server's port is none that the system takes for outgoing connections", "[server]") {
  int first = 0, last = 0;
  REQUIRE(std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> first >> last);
  const bool some_are_left = first >= 30000;
  const int port = free_port([](int) { return false; });
  CHECK((port < first || port > last) == some_are_left);
}

TEST_CASE("a server's port is none that is taken", "[server]") {
  std::vector<int> asked;
  const int port = free_port([&](int wanted) {
    asked.push_back(wanted);
    return asked.size() <= 3;
  });
  REQUIRE(asked.size() >= 4);
  CHECK(port == asked.back());
  for (std::size_t taken = 0; taken < 3; ++taken) CHECK(port != asked[taken]);
}
