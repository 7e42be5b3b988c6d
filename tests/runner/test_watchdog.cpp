// Attempts that hang or exceed their memory limit, ended by the local launcher.
#include <catch2/catch.hpp>

#include "runner/attempts/watchdog.h"
#include "runner/launchers/local_launcher.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::Attempt;
using runner::AttemptEnd;
using runner::EndCause;

namespace {

AttemptEnd end_of(const std::string& script, const std::function<void(Attempt&)>& change) {
  const tests::TemporaryDirectory temporary;
  Attempt attempt;
  attempt.name = "study.1.1";
  attempt.directory = temporary.path();
  attempt.program = "/bin/sh";
  attempt.arguments = {"sh", "-c", script};
  attempt.environment = {{"DOETUNE_RESULT", (temporary / "result.json").string()}};
  attempt.working_directory = temporary.path();
  attempt.time_limit_s = 60;
  attempt.stop_grace_s = 1;
  change(attempt);
  runner::LocalLauncher launcher;
  launcher.submit(attempt);
  while (launcher.wait(60, -1)->empty()) {
  }
  const auto end = runner::read_end(temporary.path());
  REQUIRE(end);
  return *end;
}

void hang_after(Attempt& attempt) { attempt.hang_after_s = 0.4; }

}  // namespace

TEST_CASE("A program without output and activity is stopped as hung", "[runner][watchdog]") {
  const AttemptEnd end = end_of("echo begun; sleep 100", hang_after);
  CHECK(end.cause == EndCause::kHung);
  CHECK_THAT(end.detail, Catch::Contains("no output for"));
  CHECK(end.duration_s < 30);
}

TEST_CASE("A program that works or prints does not hang", "[runner][watchdog]") {
  SECTION("one that computes, without a word") {
    const AttemptEnd end =
        end_of("end=$(($(date +%s%N) + 1500000000)); while [ $(date +%s%N) -lt $end ]; do :; done",
               hang_after);
    CHECK(end.cause == EndCause::kExited);
    CHECK(end.exit_code == 0);
  }
  SECTION("one that sleeps, but speaks") {
    const AttemptEnd end =
        end_of("for i in 1 2 3 4 5 6 7 8; do sleep 0.15; echo $i; done", hang_after);
    CHECK(end.cause == EndCause::kExited);
  }
}

TEST_CASE("More memory than allowed, over all processes of a run, is infeasible",
          "[runner][watchdog]") {
  // `tail` keeps an unterminated line in memory.
  const std::string script = "head -c 200000000 /dev/zero | tail | sleep 20";
  const auto limit = [](Attempt& attempt) { attempt.memory_limit_bytes = 50'000'000; };
  const AttemptEnd end = end_of(script, limit);
  CHECK(end.cause == EndCause::kMemory);
  CHECK_THAT(end.detail, Catch::Contains("more than the limit of 0.0466 GiB"));
}

TEST_CASE("Less memory than allowed is nobody's business", "[runner][watchdog]") {
  const auto limit = [](Attempt& attempt) { attempt.memory_limit_bytes = 500'000'000; };
  CHECK(end_of("sleep 0.8", limit).cause == EndCause::kExited);
}

TEST_CASE("The kernel reports how often it killed for want of memory", "[runner][watchdog]") {
  const auto kills = runner::out_of_memory_kills();
  REQUIRE(kills);
  CHECK(*kills >= 0);
  CHECK(runner::out_of_memory_kills() >= kills);
}
