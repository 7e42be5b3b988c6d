#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <thread>

#include "base/clock.h"
#include "runner/launchers/local_launcher.h"
#include "runner/loop/interrupts.h"
#include "runner/processes/proc_files.h"
#include "runner/processes/process_table.h"
#include "runner/processes/run_error.h"
#include "study/directory/directory.h"
#include "tests/runner/child.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::Attempt;
using runner::EndCause;
using runner::LocalLauncher;

namespace {

constexpr double kHang_s = 30;

Attempt attempt_of(const tests::TemporaryDirectory& temporary, const std::string& name,
                   const std::string& script) {
  Attempt attempt;
  attempt.name = name;
  attempt.directory = temporary / name;
  attempt.program = "/bin/sh";
  attempt.arguments = {"sh", "-c", script};
  attempt.working_directory = attempt.directory;
  attempt.environment["DOETUNE_RESULT"] = attempt.result();
  attempt.time_limit_s = 60;
  attempt.stop_grace_s = 1;
  std::filesystem::create_directories(attempt.directory);
  return attempt;
}

/// Waits for the ends of this many attempts.
std::set<std::string> wait_for(LocalLauncher& launcher, std::size_t attempts) {
  std::set<std::string> ended;
  const double until_s = monotonic_s() + kHang_s;
  while (ended.size() < attempts && monotonic_s() < until_s) {
    const auto events = launcher.wait(1, -1);
    REQUIRE(events);
    for (const auto& event : *events) ended.insert(event.attempt);
  }
  return ended;
}

void wait_for_file(const std::filesystem::path& file) {
  const double until_s = monotonic_s() + kHang_s;
  while (!std::filesystem::exists(file) && monotonic_s() < until_s) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// Waits until a process sleeps, as a launcher does between events.
void wait_for_sleep(pid_t pid) {
  const std::string file = "/proc/" + std::to_string(pid) + "/stat";
  const double until_s = monotonic_s() + kHang_s;
  for (char state = '?'; state != 'S' && monotonic_s() < until_s;) {
    const auto stat = runner::parse_process_stat(runner::read_proc_file(file));
    if (stat) state = stat->state;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

bool runs(pid_t pid) { return !runner::process_identity(pid).empty(); }

pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  REQUIRE(pid > 0);
  return pid;
}

/// Another process that makes the attempt; returns once its program has written `began` and the
/// runner waits for it.
pid_t runner_of(const Attempt& attempt) {
  const pid_t runner = ::fork();
  if (runner == 0) {
    LocalLauncher launcher;
    launcher.submit(attempt);
    while (launcher.wait(60, -1)->empty()) {
    }
    ::_exit(0);
  }
  wait_for_file(attempt.directory / "began");
  wait_for_sleep(runner);
  return runner;
}

/// As Ctrl-Z and, later, fg.
void suspend(pid_t process, std::chrono::seconds time) {
  ::kill(process, SIGSTOP);
  std::this_thread::sleep_for(time);
  ::kill(process, SIGCONT);
}

}  // namespace

TEST_CASE("An attempt is started once, whoever asks how often", "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  const Attempt attempt = attempt_of(temporary, "a", "echo x >> count");
  LocalLauncher launcher;
  launcher.submit(attempt);
  launcher.submit(attempt);
  CHECK(wait_for(launcher, 1).count("a") == 1);
  launcher.submit(attempt);  // the first claim remains valid
  CHECK(wait_for(launcher, 1).count("a") == 1);
  CHECK(study::read_file(attempt.directory / "count") == "x\n");
  CHECK(runner::read_end(attempt.directory)->exit_code == 0);
}

TEST_CASE("An attempt whose directory is gone is not started, and that is reported",
          "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  const Attempt attempt = attempt_of(temporary, "a", "true");
  std::filesystem::remove_all(attempt.directory);
  LocalLauncher launcher;
  launcher.submit(attempt);
  const auto events = launcher.wait(1, -1);
  REQUIRE(events->size() == 1);
  REQUIRE(events->front().end);
  CHECK(events->front().end->cause == EndCause::kNotStarted);
  CHECK_THAT(events->front().end->detail, Catch::Contains("cannot create"));
}

TEST_CASE("What one attempt left behind is killed, not what another goes on with",
          "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  // env -i: not even the environment identifies their origin.
  const std::string leave = "env -i setsid sleep 1000 & echo $! > pid.part; mv pid.part pid; ";
  const Attempt brief = attempt_of(temporary, "brief", leave);
  const Attempt lasting = attempt_of(temporary, "lasting",
                                     "(" + leave + ")\nwhile ! test -e done; do sleep 0.01; done");
  LocalLauncher launcher;
  launcher.submit(lasting);
  wait_for_file(lasting.directory / "pid");
  launcher.submit(brief);
  CHECK(wait_for(launcher, 1).count("brief") == 1);
  CHECK_FALSE(runs(pid_in(brief.directory / "pid")));
  const pid_t escaped = pid_in(lasting.directory / "pid");
  CHECK(runs(escaped));
  std::ofstream(lasting.directory / "done") << "";
  CHECK(wait_for(launcher, 1).count("lasting") == 1);
  CHECK_FALSE(runs(escaped));
}

TEST_CASE("A child that its process had before is left alone, alive or ended",
          "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  const tests::Child lives([] { ::pause(); });
  tests::Child ended([] {});
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(ended.pid()), &info, WEXITED | WNOWAIT) == 0);
  {
    LocalLauncher launcher;
    launcher.submit(attempt_of(temporary, "a", "true"));
    CHECK(wait_for(launcher, 1).count("a") == 1);
  }
  CHECK(::waitpid(lives.pid(), nullptr, WNOHANG) == 0);
  CHECK(::waitid(P_PID, static_cast<id_t>(ended.pid()), &info, WEXITED | WNOWAIT) == 0);
}

TEST_CASE("A cancelled attempt ends as cancelled", "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  const Attempt attempt = attempt_of(temporary, "a", "sleep 1000");
  LocalLauncher launcher;
  launcher.submit(attempt);
  launcher.cancel("a");
  launcher.cancel("a");
  launcher.cancel("unknown");
  CHECK(wait_for(launcher, 1).size() == 1);
  CHECK(runner::read_end(attempt.directory)->cause == EndCause::kCancelled);
  CHECK(runner::read_end(attempt.directory)->signal == SIGTERM);
}

TEST_CASE("Attempts die with their launcher", "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  const Attempt attempt =
      attempt_of(temporary, "a", "setsid sleep 1000 & echo $! > pid.part; mv pid.part pid; wait");
  {
    LocalLauncher launcher;
    launcher.submit(attempt);
    wait_for_file(attempt.directory / "pid");
  }
  CHECK_FALSE(runs(pid_in(attempt.directory / "pid")));
  CHECK_FALSE(runner::read_end(attempt.directory));  // nobody observed its end
}

TEST_CASE("What a runner that was killed left is killed, wherever its directory is now",
          "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  const Attempt attempt = attempt_of(temporary, "a",
                                     "env -i setsid sleep 1000 & echo $! > a.part; mv a.part a\n"
                                     "setsid sleep 1000 & echo $! > b.part; mv b.part b\nwait");
  const pid_t runner = ::fork();
  if (runner == 0) {
    LocalLauncher launcher;
    launcher.submit(attempt);
    for (;;) launcher.wait(60, -1);
  }
  wait_for_file(attempt.directory / "b");
  const auto copy = temporary / "copy";
  std::filesystem::copy(attempt.directory, copy, std::filesystem::copy_options::recursive);
  const pid_t wiped = pid_in(copy / "a");
  const pid_t daemon = pid_in(copy / "b");

  LocalLauncher::kill_left_behind(copy);  // its runner is alive: the processes are not the copy's
  CHECK(runs(wiped));
  CHECK(runs(daemon));
  ::kill(runner, SIGKILL);
  ::waitpid(runner, nullptr, 0);
  Attempt moved = attempt;
  moved.directory = temporary / "moved";
  std::filesystem::rename(attempt.directory, moved.directory);
  LocalLauncher launcher;
  CHECK_FALSE(launcher.resume(moved));
  CHECK_FALSE(runs(wiped));
  CHECK_FALSE(runs(daemon));
}

TEST_CASE("A program that ends while its runner is stopped has ended, and in time",
          "[runner][launcher]") {
  // As with Ctrl-Z: the program continues, and has ended long before the runner checks the clock.
  const tests::TemporaryDirectory temporary;
  Attempt attempt = attempt_of(temporary, "a", "echo > began; sleep 1");
  attempt.time_limit_s = 2;
  const pid_t runner = runner_of(attempt);
  suspend(runner, std::chrono::seconds(4));
  ::waitpid(runner, nullptr, 0);
  const auto end = runner::read_end(attempt.directory);
  REQUIRE(end);
  CHECK(end->cause == EndCause::kExited);
  CHECK(end->exit_code == 0);
  CHECK(end->suspended_s > 2);  // accurate to a second
  CHECK(end->duration_s < end->suspended_s);
}

TEST_CASE("Time in which a runner was stopped is not its attempts'", "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  Attempt attempt =
      attempt_of(temporary, "a", "echo > began; while ! test -e done; do sleep 0.01; done");
  attempt.time_limit_s = 4;
  attempt.hang_after_s = 4;
  const pid_t runner = runner_of(attempt);
  suspend(runner, std::chrono::seconds(6));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::ofstream(attempt.directory / "done") << "";
  ::waitpid(runner, nullptr, 0);
  CHECK(runner::read_end(attempt.directory)->cause == EndCause::kExited);
}

TEST_CASE("A program is bound to the processors it was given", "[runner][launcher]") {
  const tests::TemporaryDirectory temporary;
  Attempt attempt = attempt_of(temporary, "a", "grep Cpus_allowed_list /proc/self/status");
  attempt.cpus = {0};
  LocalLauncher launcher;
  launcher.submit(attempt);
  wait_for(launcher, 1);
  CHECK(study::read_file(attempt.directory / "stdout") == "Cpus_allowed_list:\t0\n");
}

TEST_CASE("A launcher's name may be misspelt", "[runner][launcher]") {
  CHECK(runner::make_launcher("local", {}) != nullptr);
  CHECK_THROWS_WITH(runner::make_launcher("locla", {}), Catch::Contains("did you mean 'local'?"));
}

TEST_CASE("Waiting ends with an interrupt, and each one counts", "[runner][launcher]") {
  runner::SignalInterrupts interrupts;
  LocalLauncher launcher;
  CHECK(interrupts.count() == 0);
  ::kill(::getpid(), SIGINT);
  const double began_s = monotonic_s();
  CHECK(launcher.wait(kHang_s, interrupts.descriptor())->empty());
  CHECK(monotonic_s() - began_s < kHang_s / 2);
  CHECK(interrupts.count() == 1);
  ::kill(::getpid(), SIGTERM);
  CHECK(interrupts.count() == 2);
  CHECK(interrupts.count() == 2);
}
