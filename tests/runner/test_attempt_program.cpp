// doetune-attempt, which runs attempts on other machines, executed on this one.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <thread>

#include "runner/attempts/attempt_file.h"
#include "study/directory/directory.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::Attempt;
using runner::EndCause;

namespace {

Attempt shell_attempt(const std::filesystem::path& directory, const std::string& script) {
  Attempt attempt;
  attempt.name = "study.1.1";
  attempt.directory = directory;
  attempt.program = "/bin/sh";
  attempt.arguments = {"sh", "-c", script};
  attempt.environment = {{"DOETUNE_RESULT", (directory / "result.json").string()}};
  attempt.working_directory = directory;
  attempt.time_limit_s = 60;
  attempt.stop_grace_s = 1;
  attempt.heartbeat_s = 0.02;
  return attempt;
}

pid_t start_program(const std::filesystem::path& directory) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execl(ATTEMPT_PROGRAM, ATTEMPT_PROGRAM, directory.c_str(), nullptr);
    ::_exit(127);
  }
  return pid;
}

int wait_for(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void wait_until(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000 && !holds(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  REQUIRE(holds());
}

bool is_there(const std::filesystem::path& file) { return std::filesystem::exists(file); }

}  // namespace

TEST_CASE("An attempt reads back from its file as it was written", "[runner][attempt]") {
  const tests::TemporaryDirectory temporary;
  Attempt attempt = shell_attempt(temporary.path(), "echo \"{}\\\n\"");
  attempt.host = "node1";
  attempt.gpus = {"GPU-1"};
  attempt.gpus_wanted = 1;
  attempt.cpus = {2, 3};
  attempt.processes = 4;
  attempt.hang_after_s = 30;
  attempt.memory_limit_bytes = std::int64_t{1} << 40;
  attempt.telemetry_hz = 10;
  runner::write_attempt(attempt);
  const Attempt read = runner::read_attempt(temporary.path());
  CHECK(read.name == attempt.name);
  CHECK(read.directory == attempt.directory);
  CHECK(read.program == attempt.program);
  CHECK(read.arguments == attempt.arguments);
  CHECK(read.environment == attempt.environment);
  CHECK(read.working_directory == attempt.working_directory);
  CHECK(read.host == attempt.host);
  CHECK(read.gpus == attempt.gpus);
  CHECK(read.gpus_wanted == attempt.gpus_wanted);
  CHECK(read.cpus == attempt.cpus);
  CHECK(read.processes == attempt.processes);
  CHECK(read.time_limit_s == attempt.time_limit_s);
  CHECK(read.stop_grace_s == attempt.stop_grace_s);
  CHECK(read.hang_after_s == attempt.hang_after_s);
  CHECK(read.memory_limit_bytes == attempt.memory_limit_bytes);
  CHECK(read.telemetry_hz == attempt.telemetry_hz);
  CHECK(read.heartbeat_s == attempt.heartbeat_s);

  const std::string whole = study::read_file(temporary / "attempt.json");
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    study::write_file_atomically(temporary / "attempt.json", whole.substr(0, length));
    REQUIRE_THROWS_AS(runner::read_attempt(temporary.path()), study::DirectoryError);
  }
}

TEST_CASE("doetune-attempt claims, beats, runs and reports the end", "[runner][attempt]") {
  const tests::TemporaryDirectory temporary;
  runner::write_attempt(shell_attempt(temporary.path(), "echo out; sleep 0.1; exit 3"));
  CHECK(wait_for(start_program(temporary.path())) == 3);
  CHECK(is_there(temporary / "claim/owner"));
  CHECK(is_there(temporary / "alive"));
  CHECK(study::read_file(temporary / "stdout") == "out\n");
  const auto end = runner::read_end(temporary.path());
  REQUIRE(end);
  CHECK(end->cause == EndCause::kExited);
  CHECK(end->exit_code == 3);
}

TEST_CASE("An attempt is run once, however often it is started, and never after its fence",
          "[runner][attempt]") {
  const tests::TemporaryDirectory temporary;
  runner::write_attempt(shell_attempt(temporary.path(), "echo run >>runs; sleep 0.1"));
  const pid_t first = start_program(temporary.path());
  const pid_t second = start_program(temporary.path());
  CHECK(wait_for(first) == 0);
  CHECK(wait_for(second) == 0);
  CHECK(wait_for(start_program(temporary.path())) == 0);
  CHECK(study::read_file(temporary / "runs") == "run\n");

  const tests::TemporaryDirectory fenced;
  runner::write_attempt(shell_attempt(fenced.path(), "echo run >>runs"));
  REQUIRE(runner::claim(fenced.path(), "the runner gave it up\n"));
  CHECK(wait_for(start_program(fenced.path())) == 0);
  CHECK_FALSE(is_there(fenced / "runs"));
  CHECK_FALSE(runner::read_end(fenced.path()));
}

TEST_CASE("A file `cancel` or SIGTERM stops an attempt with all that it started",
          "[runner][attempt]") {
  // Only doetune creates that file: without it the signal came from a scheduler or somebody else.
  const tests::TemporaryDirectory temporary;
  runner::write_attempt(shell_attempt(temporary.path(), "sleep 100 & echo started >started; wait"));
  const pid_t pid = start_program(temporary.path());
  wait_until([&] { return is_there(temporary / "started"); });
  const bool asked = GENERATE(true, false);
  const bool signalled = GENERATE(true, false);
  if (asked) study::write_file_atomically(temporary / "cancel", "");
  if (signalled || !asked) ::kill(pid, SIGTERM);
  wait_for(pid);
  const auto end = runner::read_end(temporary.path());
  REQUIRE(end);
  CHECK(end->cause == (asked ? EndCause::kCancelled : EndCause::kLost));
}

TEST_CASE("A program that a scheduler's signal ended, however it ends, is lost",
          "[runner][attempt]") {
  // Slurm signals the processes of a job one after another, here the program before
  // doetune-attempt.
  const tests::TemporaryDirectory temporary;
  const std::string exit = GENERATE("143", "1", "2");
  runner::write_attempt(
      shell_attempt(temporary.path(), "trap 'exit " + exit +
                                          "' TERM; echo $$ >pid.part; mv pid.part pid\n"
                                          "while :; do sleep 0.01; done"));
  const pid_t pid = start_program(temporary.path());
  wait_until([&] { return is_there(temporary / "pid"); });
  ::kill(std::stoi(study::read_file(temporary / "pid")), SIGTERM);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ::kill(pid, SIGTERM);
  wait_for(pid);
  const auto end = runner::read_end(temporary.path());
  REQUIRE(end);
  CHECK(end->cause == EndCause::kLost);
  CHECK_THAT(end->detail, Catch::Contains("not by doetune"));
}

TEST_CASE("doetune-attempt keeps the time limit itself", "[runner][attempt]") {
  const tests::TemporaryDirectory temporary;
  Attempt attempt = shell_attempt(temporary.path(), "sleep 100");
  attempt.time_limit_s = 0.1;
  runner::write_attempt(attempt);
  wait_for(start_program(temporary.path()));
  const auto end = runner::read_end(temporary.path());
  REQUIRE(end);
  CHECK(end->cause == EndCause::kTimeLimit);
}

TEST_CASE("What doetune-attempt cannot do, it says", "[runner][attempt]") {
  const tests::TemporaryDirectory temporary;
  CHECK(wait_for(start_program(temporary / "missing")) == 1);
}
