// doetune-attempt, which runs attempts and servers on other machines, executed on this one.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <thread>

#include "runner/attempts/attempt_file.h"
#include "runner/attempts/placement.h"
#include "runner/launchers/local_launcher.h"
#include "runner/processes/process_table.h"
#include "runner/servers/server_order.h"
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

namespace {

/// A study with a server, which can be used when there is a file `up` in the server's directory.
struct Plot {
  explicit Plot(const std::string& script) {
    std::filesystem::create_directories(server);
    order.settings.set_up = {"sh", "-c", script};
    order.settings.ready_command = {"test", "-e", "up"};
  }

  pid_t start() const {
    runner::write_attempt(shell_attempt(server, ""));
    runner::write_order(server, order);
    return start_program(server);
  }

  std::filesystem::path place(const std::string& name, const std::string& script) const {
    const auto directory = temporary / "runs" / name;
    std::filesystem::create_directories(directory);
    Attempt attempt = shell_attempt(directory, script);
    attempt.name = "study." + name;
    attempt.server = server;
    runner::write_attempt(attempt);
    runner::place_run(server, directory);
    return directory;
  }

  runner::AttemptEnd end() const { return runner::read_end(server).value(); }

  tests::TemporaryDirectory temporary;
  std::filesystem::path server = temporary / "plots/0001.1";
  runner::ServerOrder order;
};

constexpr const char* kServer = "touch up; setsid sleep 1000 & wait";

}  // namespace

TEST_CASE("Runs placed beside a server are executed one after another, and all ends with it",
          "[runner][attempt][server]") {
  const Plot plot(kServer);
  const pid_t pid = plot.start();
  wait_until([&] { return runner::read_ready(plot.server).has_value(); });
  CHECK(runner::read_address(plot.server).value().port > 0);
  const std::string count = "echo begin >>../../log; sleep 0.1; echo end >>../../log; exit 3";
  const auto first = plot.place("0001.1", count);
  const auto second = plot.place("0002.1", count);
  wait_until([&] { return runner::read_end(first) && runner::read_end(second); });
  CHECK(runner::read_end(second)->exit_code == 3);
  CHECK(study::read_file(plot.temporary / "log") == "begin\nend\nbegin\nend\n");
  const auto mark = runner::LocalLauncher::mark_of_attempt(plot.server).value();
  CHECK(runner::processes_with(mark).size() >= 2);
  study::write_file_atomically(plot.server / "cancel", "");
  wait_for(pid);
  CHECK(plot.end().cause == EndCause::kCancelled);
  CHECK(runner::processes_with(mark).empty());
}

TEST_CASE("A run is stopped when its server ends, and both say so", "[runner][attempt][server]") {
  const Plot plot(
      "touch up; while [ ! -e die ]; do sleep 0.01; done; echo lost a worker >&2; exit 9");
  const pid_t pid = plot.start();
  const auto run = plot.place("0001.1", "touch ../../plots/0001.1/die; sleep 1000");
  CHECK(wait_for(pid) == 9);
  CHECK(plot.end().exit_code == 9);
  const auto end = runner::read_end(run);
  REQUIRE(end);
  CHECK(end->cause == EndCause::kLost);
  CHECK(end->detail == "its server ended");
}

TEST_CASE("A server ends if doetune does not want it any more, or it is not ready in time",
          "[runner][attempt][server]") {
  Plot unwanted(kServer);
  unwanted.order.unwanted_s = 0.3;
  const pid_t first = unwanted.start();
  Plot late("sleep 1000");
  late.order.settings.ready_within_s = 2;
  const pid_t second = late.start();
  wait_for(first);
  CHECK(unwanted.end().cause == EndCause::kLost);
  CHECK(unwanted.end().detail == "doetune has shown no sign of life for 0.3 s");
  wait_for(second);
  CHECK(late.end().cause == EndCause::kTimeLimit);
  CHECK(late.end().detail == "not ready within 2 s: exit code 1");
}

TEST_CASE("run.tear_down ends a server whose command left it behind", "[runner][attempt][server]") {
  Plot plot("touch up");
  plot.order.settings.tear_down = {"touch", "gone"};
  const pid_t pid = plot.start();
  const auto run = plot.place("0001.1", "exit 0");
  wait_until([&] { return runner::read_end(run).has_value(); });
  CHECK_FALSE(runner::read_end(plot.server));
  ::kill(pid, SIGTERM);
  wait_for(pid);
  CHECK(is_there(plot.server / "gone"));
  CHECK(plot.end().cause == EndCause::kLost);
}

TEST_CASE("What a killed doetune-attempt left of a server is ended by the next one on its host",
          "[runner][attempt][server]") {
  Plot plot(kServer);
  plot.order.settings.tear_down = {"sh", "-c", "echo $DOETUNE_PORT >>../../gone"};
  const pid_t first = plot.start();
  wait_until([&] { return runner::read_ready(plot.server).has_value(); });
  const int port = runner::read_address(plot.server).value().port;
  const auto mark = runner::LocalLauncher::mark_of_attempt(plot.server).value();
  ::kill(first, SIGKILL);
  wait_for(first);
  CHECK_FALSE(runner::processes_with(mark).empty());
  plot.server = plot.temporary / "plots/0001.2";
  std::filesystem::create_directories(plot.server);
  const pid_t second = plot.start();
  wait_until([&] { return runner::read_ready(plot.server).has_value(); });
  CHECK(runner::processes_with(mark).empty());
  CHECK(study::read_file(plot.temporary / "gone") == fmt::format("{}\n", port));
  ::kill(second, SIGTERM);
  wait_for(second);
}

TEST_CASE("A server that cannot be started says why", "[runner][attempt][server]") {
  Plot plot(kServer);
  plot.order.settings.ready_command = {"no-such-program"};
  wait_for(plot.start());
  CHECK(plot.end().cause == EndCause::kNotStarted);
  CHECK_THAT(plot.end().detail, Catch::Contains("no-such-program"));
}
