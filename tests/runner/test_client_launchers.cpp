// The launchers ssh and slurm-pilot with scripted clients.
#include <algorithm>
#include <catch2/catch.hpp>

#include "base/clock.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/pilot_launcher.h"
#include "runner/launchers/slurm_job.h"
#include "runner/launchers/ssh_launcher.h"
#include "runner/processes/run_error.h"
#include "study/directory/directory.h"
#include "tests/runner/fake_clients.h"
#include "tests/runner/launcher_events.h"

using namespace doetune;
using runner::Attempt;
using runner::AttemptEnd;
using runner::EndCause;
using tests::kHang_s;
using tests::wait_for;
using tests::wait_until;

namespace {

struct World {
  tests::FakeClients clients;
  tests::TemporaryDirectory temporary;
  std::vector<std::string> notes;
  runner::LauncherRequest request;

  World() {
    request.study = "s";
    request.directory = temporary.path();
    request.run.slurm.poll_s = 0.05;
    request.run.ssh.hosts = {{"one", 2, {"0", "1"}}, {"two", 1, {}}};
    request.note = [this](const std::string& text) { notes.push_back(text); };
  }

  Attempt attempt(const std::string& name, const std::string& host = "") const {
    Attempt made;
    made.name = name;
    made.directory = temporary / (name + " it's 50%");
    made.program = "/bin/true";
    made.arguments = {"true"};
    made.working_directory = "/";
    made.host = host;
    made.heartbeat_s = 0.1;
    std::filesystem::create_directories(made.directory);
    return made;
  }

  /// Sets squeue's answer: the pilot in this state.
  /// Slurm's clients for a pilot: squeue shows the file `queue`, srun runs this script.
  void slurm_with(const std::string& srun) {
    clients.client("squeue", "cat $FAKE/queue");
    clients.client("scancel", "");
    clients.client("scontrol", "echo Slurmctld is UP");
    clients.client("srun", srun);
  }

  void list_pilot(const std::string& columns) const {
    clients.file("queue", "12|" + columns + "|" +
                              runner::slurm_job_name("s.pilot", temporary.path()) + "\n");
  }
};

/// Waits until srun was called.
void wait_for_step(const World& world, runner::Launcher& launcher) {
  const double until_s = monotonic_s() + kHang_s;
  while (world.clients.text("steps").empty() && monotonic_s() < until_s) {
    REQUIRE(launcher.wait(0.05, -1)->empty());
  }
  REQUIRE_FALSE(world.clients.text("steps").empty());
}

AttemptEnd end_of(runner::Launcher& launcher) {
  const auto events = wait_for(launcher);
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].end);
  return *events[0].end;
}

void exit_elsewhere(const Attempt& attempt) {
  AttemptEnd end;
  end.cause = EndCause::kExited;
  end.exit_code = 0;
  runner::write_end(attempt.directory, end);
}

}  // namespace

TEST_CASE("ssh gets the remote command as one word for the remote shell", "[runner][ssh]") {
  World world;
  world.clients.client("ssh", "for a; do last=$a; done; sh -c \"$last\"");  // like sshd
  runner::SshLauncher launcher(world.request);
  Attempt attempt = world.attempt("s.1.1", "one");
  attempt.time_limit_s = 20;
  launcher.submit(attempt);
  CHECK_FALSE(wait_for(launcher).at(0).end);
  CHECK(runner::read_end(attempt.directory)->exit_code == 0);
}

TEST_CASE("Hosts are places with GPUs of their own, up to the jobs wanted", "[runner][ssh]") {
  World world;
  const runner::SshLauncher launcher(world.request);
  const auto capacities = launcher.capacities(world.request.run, {});
  REQUIRE(capacities.size() == 2);
  CHECK(capacities[0].host == "one");
  CHECK(capacities[0].jobs == 2);
  CHECK(capacities[0].gpus == std::vector<std::string>{"0", "1"});
  CHECK(capacities[0].assigns_gpus);
  CHECK(launcher.capacities(world.request.run, {1, {}}).size() == 1);
  study::RunSettings none;
  CHECK_THROWS_WITH(launcher.capacities(none, {}), Catch::Contains("run.ssh.hosts"));
}

TEST_CASE("A host out of reach twice in a row gets no further runs", "[runner][ssh]") {
  World world;
  world.clients.client("ssh", "echo 'Could not resolve hostname' >&2; exit 255");
  runner::SshLauncher launcher(world.request);
  for (const char* name : {"s.1.1", "s.1.2"}) {
    CHECK(launcher.closed_hosts().empty());
    launcher.submit(world.attempt(name, "one"));
    const AttemptEnd end = end_of(launcher);
    CHECK(end.cause == EndCause::kLost);
    CHECK_THAT(end.detail, Catch::Contains("Could not resolve hostname"));
  }
  CHECK(launcher.closed_hosts() == std::set<std::string>{"one"});
  CHECK(world.notes.size() == 1);
  for (const char* name : {"s.1.3", "s.1.4"}) {
    launcher.submit(world.attempt(name, "two"));
    CHECK(end_of(launcher).cause == EndCause::kLost);
  }
  CHECK_THROWS_AS(launcher.wait(0, -1), runner::RunError);
}

TEST_CASE("What the remote shell cannot start is the run's failure, not the host's",
          "[runner][ssh]") {
  World world;
  world.clients.client("ssh", "echo 'sh: 1: exec: not found' >&2; exit 127");
  runner::SshLauncher launcher(world.request);
  for (const char* name : {"s.1.1", "s.1.2"}) {
    launcher.submit(world.attempt(name, "one"));
    CHECK(end_of(launcher).cause == EndCause::kNotStarted);
  }
  CHECK(launcher.closed_hosts().empty());
}

TEST_CASE("A lost connection is not the end of a run, a heartbeat that stops is", "[runner][ssh]") {
  World world;
  world.clients.client("ssh", "mkdir \"$DIR/claim\"; exit 255");
  const Attempt attempt = world.attempt("s.1.1", "one");
  ::setenv("DIR", attempt.directory.c_str(), 1);
  runner::SshLauncher launcher(world.request);
  launcher.submit(attempt);
  for (int beat = 0; beat < 10; ++beat) {
    study::write_file_atomically(attempt.directory / "alive", std::to_string(beat));
    REQUIRE(launcher.wait(0.05, -1)->empty());
  }
  SECTION("it ends by itself") {
    exit_elsewhere(attempt);
    CHECK_FALSE(wait_for(launcher).at(0).end);
  }
  SECTION("it dies") {
    CHECK(end_of(launcher).cause == EndCause::kLost);
    CHECK(std::filesystem::exists(attempt.directory / "cancel"));
  }
}

TEST_CASE("An attempt whose client died with doetune is fenced unless it has begun",
          "[runner][ssh]") {
  World world;
  runner::SshLauncher launcher(world.request);
  const Attempt waiting = world.attempt("s.1.1", "one");
  CHECK_FALSE(launcher.resume(waiting));
  CHECK(runner::AttemptWatch(waiting.directory, 1, 0).fenced());
  const Attempt begun = world.attempt("s.2.1", "one");
  REQUIRE(runner::claim(begun.directory, "{}\n"));
  CHECK(launcher.resume(begun));
  exit_elsewhere(begun);
  CHECK(wait_for(launcher).at(0).attempt == "s.2.1");
}

TEST_CASE("Runs wait for the pilot, and what srun cannot start is lost", "[runner][pilot]") {
  World world;
  world.clients.client("squeue", "cat $FAKE/queue");
  world.clients.client("sbatch", "for a; do echo \"$a\" >>$FAKE/asked; done; echo 12");
  world.clients.client("scancel", "echo \"$@\" >>$FAKE/scancelled");
  world.clients.client("scontrol", "echo Slurmctld is UP");
  world.clients.client("srun", "echo \"$@\" >>$FAKE/steps; echo 'no such job' >&2; exit 1");
  world.clients.file("queue", "");
  {
    runner::PilotLauncher launcher(world.request);
    launcher.submit(world.attempt("s.1.1"));
    launcher.submit(world.attempt("s.2.1"));
    world.list_pilot("PENDING||Resources");
    wait_until(launcher, [&] { return !world.notes.empty(); });
    CHECK(world.clients.text("asked").empty());  // the pilot of an earlier doetune exists
    CHECK_THAT(world.notes, Catch::VectorContains(
                                std::string("Slurm job 12 for the nodes is pending: Resources")));
    CHECK(world.clients.text("steps").empty());
    world.list_pilot("RUNNING|n1|None");
    const auto events = wait_for(launcher);
    REQUIRE_FALSE(events.empty());
    CHECK(events[0].end->cause == EndCause::kLost);
    CHECK_THAT(events[0].end->detail, Catch::Contains("no such job"));
    CHECK_THAT(world.clients.text("steps"), Catch::Contains("--jobid=12 "));
    CHECK(std::filesystem::exists(world.temporary / "pilot.alive"));
  }
  CHECK_THAT(world.clients.text("scancelled"), Catch::Contains("--name=s.pilot."));
  CHECK_FALSE(std::filesystem::exists(world.temporary / "pilot.alive"));
}

TEST_CASE("Nodes that do not come are given up, in Slurm's words", "[runner][pilot]") {
  World world;
  world.slurm_with("exit 1");
  world.clients.client("sbatch", "echo x >>$FAKE/asked; echo 12");
  world.clients.file("queue", "");
  std::string words;
  std::size_t asked = 2;
  SECTION("sbatch refuses") {
    world.clients.client("sbatch",
                         "echo x >>$FAKE/asked; echo 'Invalid partition name' >&2; exit 1");
    words = "Invalid partition name";
  }
  SECTION("the pilot ends again and again") {
    world.list_pilot("FAILED|n1|NonZeroExitCode");
    words = "3 consecutive allocations";
    asked = 6;
  }
  runner::PilotLauncher launcher(world.request);
  launcher.submit(world.attempt("s.1.1"));
  const AttemptEnd end = end_of(launcher);
  CHECK(end.cause == EndCause::kNotStarted);
  CHECK_THAT(end.detail, Catch::Contains(words));
  CHECK(world.clients.text("asked").size() == asked);
}

TEST_CASE("A step for which there is no room yet is asked for again, and is not lost",
          "[runner][pilot]") {
  // Slurm 22.05 refuses a step while the previous one is being cleaned up. Without --immediate srun
  // would retry only after SlurmctldTimeout.
  World world;
  world.clients.client("sbatch", "echo 12");
  world.slurm_with(
      "echo \"$@\" >>$FAKE/steps\n"
      "[ $(wc -l <$FAKE/steps) -gt 2 ] && exit 1\n"
      "echo 'srun: error: Unable to create step for job 12: Requested nodes are "
      "busy' >&2; exit 1");
  world.list_pilot("RUNNING|n1|None");
  runner::PilotLauncher launcher(world.request);
  const Attempt attempt = world.attempt("s.1.1");
  launcher.submit(attempt);
  CHECK(end_of(launcher).cause == EndCause::kLost);  // by the third answer, which differs
  const std::string steps = world.clients.text("steps");
  CHECK(std::count(steps.begin(), steps.end(), '\n') == 3);
  CHECK_THAT(steps, Catch::Contains("--immediate"));
}

TEST_CASE("What slurmstepd says of a step that had begun is no refusal of it", "[runner][pilot]") {
  World world;
  world.slurm_with(
      "echo x >>$FAKE/steps\n"
      "echo 'slurmstepd: error: rmdir(/sys/fs/cgroup/job_12): Device or resource "
      "busy' >&2; exit 1");
  world.list_pilot("RUNNING|n1|None");
  runner::PilotLauncher launcher(world.request);
  launcher.submit(world.attempt("s.1.1"));
  CHECK(end_of(launcher).cause == EndCause::kLost);
  CHECK(world.clients.text("steps") == "x\n");
}

TEST_CASE("Steps that do not fit are retried one at a time, with growing delays",
          "[runner][pilot]") {
  World world;
  world.slurm_with(
      "echo x >>$FAKE/steps\n"
      "echo 'srun: error: Unable to create step for job 12: Requested nodes are "
      "busy' >&2; exit 1");
  world.list_pilot("RUNNING|n1|None");
  runner::PilotLauncher launcher(world.request);
  for (const char* name : {"s.1.1", "s.2.1", "s.3.1", "s.4.1"}) {
    launcher.submit(world.attempt(name));
  }
  wait_for_step(world, launcher);
  CHECK(wait_for(launcher, 1.5).empty());
  // Each once, then one after 0.25 s, 0.75 s and 1.75 s. All of them every 0.25 s would be 28.
  const std::string steps = world.clients.text("steps");
  CHECK(std::count(steps.begin(), steps.end(), 'x') <= 8);
}

TEST_CASE("An attempt that had not begun when its allocation ended begins in the next one",
          "[runner][pilot]") {
  World world;
  world.clients.client("sbatch", "cp $FAKE/running $FAKE/part; mv $FAKE/part $FAKE/queue; echo 12");
  world.slurm_with(
      "echo x >>$FAKE/steps\n"
      "[ $(wc -l <$FAKE/steps) -gt 1 ] || exec sleep 1000\n"
      "echo 'the second' >&2; exit 1");
  world.list_pilot("RUNNING|n1|None");
  world.clients.file("running", world.clients.text("queue"));
  runner::PilotLauncher launcher(world.request);
  launcher.submit(world.attempt("s.1.1"));
  wait_for_step(world, launcher);
  world.list_pilot("FAILED|n1|NodeFail");
  CHECK_THAT(end_of(launcher).detail, Catch::Contains("the second"));
}
