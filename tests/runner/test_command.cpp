#include <catch2/catch.hpp>

#include "runner/attempts/command.h"

using namespace doetune;
using runner::run_command;

TEST_CASE("A command's output, errors and exit code come back", "[runner][command]") {
  const auto result = run_command({"/bin/sh", {"sh", "-c", "echo out; echo err >&2; exit 3"}});
  CHECK(result.output == "out\n");
  CHECK(result.errors == "err\n");
  CHECK(result.exit_code == 3);
  CHECK(result.problem.empty());
}

TEST_CASE("A command gets its directory and environment, and no input", "[runner][command]") {
  const auto result = run_command(
      {"/bin/sh", {"sh", "-c", "pwd; echo $GREETING; cat"}, {{"GREETING", "hello"}}, "/tmp"});
  CHECK(result.output == "/tmp\nhello\n");
}

TEST_CASE("A command that does not end is not waited for", "[runner][command]") {
  const auto silent =
      run_command({"/bin/sh", {"sh", "-c", "echo begun; sleep 1000"}, {}, "/", 0.3});
  CHECK_FALSE(silent.exit_code);
  CHECK(silent.output == "begun\n");
  CHECK(silent.problem == "did not end in 0.3 s");
  const auto endless = run_command({"/bin/sh", {"sh", "-c", "yes"}, {}, "/", 0.3});
  CHECK_FALSE(endless.exit_code);
  CHECK(endless.output.size() <= 1 << 20);
}

TEST_CASE("What a command leaves running holds nobody up", "[runner][command]") {
  const auto result = run_command({"/bin/sh", {"sh", "-c", "sleep 1000 & echo done"}, {}, "/", 20});
  CHECK(result.exit_code == 0);
  CHECK(result.output == "done\n");
}

TEST_CASE("A command that cannot be started says why", "[runner][command]") {
  const auto result = run_command({"/nowhere/at-all", {"at-all"}});
  CHECK_FALSE(result.exit_code);
  CHECK_THAT(result.problem, Catch::Contains("/nowhere/at-all"));
}
