// Child processes of this program: what they inherit, how they end, and how that is reported. They
// run the hidden test case below.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "base/clock.h"
#include "workloads/processes/child_process.h"
#include "workloads/processes/cpus.h"
#include "workloads/protocol/protocol.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

ChildStart child_that(const std::string& what) {
  return {{"test", "a child does what it is told"}, {{"CHILD_SHALL", what}}};
}

/// The message about the end of a child.
template <class Error>
std::string report_of(const std::string& what) {
  ChildProcess child(child_that(what));
  child.wait();
  CHECK(child.failed());
  try {
    child.report("it", "fewer of them");
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a child does what it is told", "[.]") {
  const char* given = std::getenv("CHILD_SHALL");
  if (given == nullptr) return;  // not run as a child
  const std::string what(given);
  if (what == "sleep") pause();
  if (what == "be killed") raise(SIGKILL);
  if (what == "look around") {
    const auto number = [](const char* variable) { return std::atoi(std::getenv(variable)); };
    const bool well = number("OMP_NUM_THREADS") == 3 && number("GOMP_SPINCOUNT") == 1000 &&
                      assigned_cpus({}).size() == 1 && send(number("KEPT"), "here", 4, 0) == 4 &&
                      fcntl(number("CLOSED"), F_GETFD) == -1;
    _exit(well ? 0 : 1);
  }
  _exit(std::atoi(given));
}

TEST_CASE("a child has its environment, its CPUs and the files that it was given", "[processes]") {
  const auto [ours, theirs] = connected_sockets();
  ChildStart start = child_that("look around");
  start.environment.emplace_back("KEPT", std::to_string(theirs.get()));
  start.environment.emplace_back("CLOSED", std::to_string(ours.get()));
  start.files = {theirs.get()};
  start.cpus = {assigned_cpus({}).front()};
  start.threads = 3;
  unsetenv("GOMP_SPINCOUNT");
  ChildProcess child(start);
  child.wait();
  CHECK_FALSE(child.failed());
  char word[8] = {};
  CHECK(recv(ours.get(), word, sizeof word, MSG_DONTWAIT) == 4);
  CHECK(std::string(word) == "here");
}

TEST_CASE("the end of a child is an error of its kind", "[processes]") {
  CHECK(report_of<UsageError>("2") == "it printed its error above");
  CHECK(report_of<Infeasible>("77") == "it cannot run with these settings; its message is above");
  CHECK(report_of<std::runtime_error>("5") == "it ended with exit code 5");
  CHECK(report_of<std::runtime_error>("be killed") == "it was ended by signal 9 (Killed)");
}

TEST_CASE("a child that does not end is killed at the deadline, or with its object",
          "[processes]") {
  ChildProcess late(child_that("sleep"));
  CHECK_FALSE(late.ended());
  late.end_by(Clock::now() + 20ms);
  CHECK(late.ended_by_signal());
  CHECK(kill(late.pid(), 0) == -1);
  pid_t pid = 0;
  {
    const ChildProcess child(child_that("sleep"));
    pid = child.pid();
    CHECK(kill(pid, 0) == 0);
  }
  CHECK(kill(pid, 0) == -1);
}

TEST_CASE("a child that moves ends with its last owner", "[processes]") {
  ChildProcess owner(child_that("0"));
  {
    ChildProcess first(child_that("sleep"));
    const pid_t pid = first.pid();
    owner = std::move(first);
    CHECK(owner.pid() == pid);
  }
  CHECK(kill(owner.pid(), 0) == 0);
}

TEST_CASE("parts of the CPUs are disjoint and leave none over, where there is one for each",
          "[processes]") {
  const std::vector<int> cpus{2, 3, 5, 7, 11};
  for (int parts = 1; parts <= 5; ++parts) {
    std::vector<int> joined;
    for (int part = 0; part < parts; ++part) {
      const auto own = cpus_of(cpus, part, parts);
      CHECK(own.size() >= cpus.size() / static_cast<std::size_t>(parts));
      joined.insert(joined.end(), own.begin(), own.end());
    }
    CHECK(joined == cpus);
  }
  CHECK(cpus_of(cpus, 3, 6) == cpus);
}

TEST_CASE("CPUs that the process may not use are left out of those assigned", "[processes]") {
  const std::vector<int> all = assigned_cpus({});
  CHECK(assigned_cpus({all.back(), 1000000}) == std::vector{all.back()});
  CHECK_THROWS_AS(assigned_cpus({1000000}), UsageError);
}
