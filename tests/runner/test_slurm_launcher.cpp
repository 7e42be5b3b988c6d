// The launcher slurm with scripted clients, whose answers are taken from Slurm 22.05:
// test_slurm_cluster.py runs it.
#include <catch2/catch.hpp>
#include <memory>

#include "base/clock.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/slurm_job.h"
#include "runner/launchers/slurm_launcher.h"
#include "runner/processes/run_error.h"
#include "study/directory/directory.h"
#include "tests/runner/fake_clients.h"
#include "tests/runner/launcher_events.h"

using namespace doetune;
using runner::Attempt;
using runner::AttemptEnd;
using runner::EndCause;
using runner::SlurmJob;
using tests::wait_for;
using tests::wait_until;

namespace {

/// A launcher whose sbatch accepts every job, and whose squeue prints what the test specifies.
struct Cluster {
  tests::FakeClients clients;
  tests::TemporaryDirectory temporary;
  std::vector<std::string> notes;
  runner::LauncherRequest request;

  Cluster() {
    clients.client("sbatch", "echo x >>$FAKE/submissions; echo 12");
    clients.client("squeue", "cat $FAKE/queue");
    clients.client("scancel", "echo \"$@\" >>$FAKE/scancelled");
    clients.client("scontrol", "echo Slurmctld is UP");
    clients.client("srun", "");
    clients.file("queue", "");
    request.directory = temporary.path();
    request.run.slurm.poll_s = 0.05;
    request.note = [this](const std::string& text) { notes.push_back(text); };
  }

  Attempt attempt(const std::string& name = "s.1.1") const {
    Attempt made;
    made.name = name;
    made.directory = temporary / name;
    made.program = "/bin/true";
    made.arguments = {"true"};
    made.working_directory = "/";
    std::filesystem::create_directories(made.directory);
    study::write_file_atomically(made.request(), "{}");
    return made;
  }

  std::string job(const Attempt& attempt) const {
    return runner::slurm_job_name(attempt.name, temporary.path());
  }

  /// Sets squeue's answer: state, node and reason of the attempt's job.
  void list(const Attempt& attempt, const std::string& columns) const {
    clients.file("queue", "12|" + columns + "|" + job(attempt) + "\n");
  }
};

AttemptEnd end_of(runner::Launcher& launcher) {
  const auto events = wait_for(launcher);
  REQUIRE(events.size() == 1);
  REQUIRE(events[0].end);
  return *events[0].end;
}

void claim_elsewhere(const Attempt& attempt) { REQUIRE(runner::claim(attempt.directory, "{}\n")); }

void exit_elsewhere(const Attempt& attempt, EndCause cause = EndCause::kExited) {
  AttemptEnd end;
  end.cause = cause;
  end.exit_code = 0;
  runner::write_end(attempt.directory, end);
}

bool is_fenced(const Attempt& attempt) {
  return runner::AttemptWatch(attempt.directory, 1, 0).fenced();
}

}  // namespace

TEST_CASE("How an attempt without an exit file ended, by what Slurm says of its job",
          "[runner][slurm]") {
  struct Row {
    std::string state, reason;
    bool claimed;
    EndCause cause;
  };
  const auto row = GENERATE(values<Row>({
      {"TIMEOUT", "TimeLimit", true, EndCause::kTimeLimit},
      {"DEADLINE", "None", false, EndCause::kTimeLimit},
      {"OUT_OF_MEMORY", "OutOfMemory", true, EndCause::kMemory},
      {"NODE_FAIL", "NodeDown", true, EndCause::kLost},
      {"NODE_FAIL", "NodeDown", false, EndCause::kLost},
      {"BOOT_FAIL", "None", false, EndCause::kLost},
      {"PREEMPTED", "None", true, EndCause::kLost},
      {"FAILED", "JobLaunchFailure", false, EndCause::kLost},
      {"FAILED", "JobLaunchFailure", true, EndCause::kLost},
      {"FAILED", "NonZeroExitCode", true, EndCause::kLost},
      {"FAILED", "NonZeroExitCode", false, EndCause::kNotStarted},
      {"COMPLETED", "None", false, EndCause::kNotStarted},
      {"COMPLETED", "None", true, EndCause::kLost},
      {"CANCELLED", "None", false, EndCause::kLost},
      {"CANCELLED", "None", true, EndCause::kLost},
  }));
  CAPTURE(row.state, row.reason, row.claimed);
  const SlurmJob job{"12", row.state, "n1", row.reason, "x"};
  const AttemptEnd end = runner::end_without_exit(job, row.claimed, "the last words");
  CHECK(end.cause == row.cause);
  CHECK(end.host == "n1");
  CHECK_THAT(end.detail, Catch::StartsWith("Slurm job 12 on n1: "));
  CHECK(runner::is_final(job));
}

TEST_CASE("A state that is not known is not an end", "[runner][slurm]") {
  CHECK_FALSE(runner::is_final({"1", "TELEPORTING", "n1", "None", "x"}));
  CHECK(runner::should_beat({"1", "TELEPORTING", "n1", "None", "x"}));
  CHECK_FALSE(runner::should_beat({"1", "SUSPENDED", "n1", "None", "x"}));
}

TEST_CASE("squeue's answer is read by name, whatever names there are", "[runner][slurm]") {
  const auto jobs = runner::parse_squeue(
      "7|RUNNING|n1|None|a|b c\n8|PENDING||Resources|d\nof two lines\n"
      "9|FAILED|n2|NonZeroExitCode|e\n10|RUNNING|n2|None|e\n6|FAILED|n2|NonZeroExitCode|e\n");
  REQUIRE(jobs);
  CHECK(jobs->at("a|b c").id == "7");
  CHECK(jobs->at("d").node.empty());
  CHECK(jobs->at("e").id == "10");
  CHECK(runner::parse_squeue("")->empty());
  CHECK_FALSE(runner::parse_squeue("no list\nof jobs\n"));
}

TEST_CASE("A job's name is the study directory's own, and safe", "[runner][slurm]") {
  const std::string name = runner::slurm_job_name("a b,c.7.1", "/x/study");
  CHECK_THAT(name, Catch::StartsWith("a_b_c.7.1."));
  CHECK(name == runner::slurm_job_name("a b,c.7.1", "/x/y/../study"));
  CHECK(name != runner::slurm_job_name("a b,c.7.1", "/y/study"));
}

TEST_CASE("sbatch gets what the study asks for", "[runner][slurm]") {
  Attempt attempt;
  attempt.directory = "/x/it's 50%j\n";
  attempt.processes = 4;
  attempt.gpus_wanted = 2;
  attempt.time_limit_s = 100;
  attempt.stop_grace_s = 5;
  attempt.memory_limit_bytes = 3 << 20;
  study::RunSettings run;
  run.cpus_per_run = 8;
  run.slurm.partition = "gpu";
  run.slurm.account = "me";
  run.slurm.nodes = 2;
  run.slurm.options = {"--constraint=a100"};
  const auto arguments = runner::sbatch_arguments(attempt, "j", run, "/bin/da", {"n1", "n3"});
  CHECK(arguments == std::vector<std::string>{
                         "sbatch", "--parsable", "--no-requeue", "--job-name=j", "--chdir=/",
                         "--output=/dev/null", "--time=3", "--nodes=2", "--ntasks=4",
                         "--partition=gpu", "--account=me", "--gres=gpu:2", "--cpus-per-task=8",
                         "--mem=2M", "--exclude=n1,n3", "--constraint=a100", "--wrap",
                         "exec /bin/da '/x/it'\\''s 50%j\n' >'/x/it'\\''s 50%j\n/log' 2>&1"});
  run.slurm.gres = "shard:1";
  run.slurm.time_limit_s = 7200;
  const auto more = runner::sbatch_arguments(attempt, "j", run, "/bin/da", {});
  CHECK(std::count(more.begin(), more.end(), "--gres=shard:1") == 1);
  CHECK(std::count(more.begin(), more.end(), "--time=120") == 1);
}

TEST_CASE("An exit file ends an attempt, whatever Slurm says", "[runner][slurm]") {
  Cluster cluster;
  const std::string squeue =
      GENERATE("cat $FAKE/queue", "exit 1", "echo garbage", "sleep 1000", "kill -9 $$");
  CAPTURE(squeue);
  cluster.clients.client("squeue", squeue);
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  cluster.list(attempt, "RUNNING|n1|None");
  launcher.submit(attempt);
  launcher.submit(attempt);
  CHECK(wait_for(launcher, 0.3).empty());
  claim_elsewhere(attempt);
  exit_elsewhere(attempt);
  const auto events = wait_for(launcher);
  REQUIRE(events.size() == 1);
  CHECK(events[0].attempt == "s.1.1");
  CHECK_FALSE(events[0].end);
  CHECK(cluster.clients.text("submissions") == "x\n");
  CHECK(study::read_file(attempt.directory / "job") == "12\n");
}

TEST_CASE("Without an answer nothing is known: no attempt is given up", "[runner][slurm]") {
  Cluster cluster;
  const std::string squeue = GENERATE("exit 1", "echo garbage", "echo '{\"jobs\": []}'; exit 0",
                                      "kill -9 $$", "echo 12 RUNNING; exit 1");
  CAPTURE(squeue);
  cluster.clients.client("squeue", squeue);
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  launcher.submit(attempt);
  wait_until(launcher, [&] { return !cluster.notes.empty(); });
  CHECK(wait_for(launcher, 0.2).empty());
  CHECK_FALSE(launcher.wait(0, -1));
  REQUIRE(cluster.notes.size() == 1);
  CHECK_THAT(cluster.notes.at(0), Catch::Contains("does not answer"));

  cluster.clients.client("squeue", "cat $FAKE/queue");
  cluster.list(attempt, "RUNNING|n1|None");
  wait_until(launcher, [&] { return cluster.notes.size() > 1; });
  CHECK(cluster.notes.size() == 2);
  CHECK_THAT(cluster.notes.at(1), Catch::Contains("answers again"));
  CHECK(cluster.clients.text("submissions") == "x\n");
}

TEST_CASE("A job that Slurm does not know any more is fenced, and lost", "[runner][slurm]") {
  Cluster cluster;
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  // The number belongs to another job by now: after a crash the controller reuses numbers.
  cluster.clients.file("queue", "12|RUNNING|n1|None|somebody else's\n");
  launcher.submit(attempt);
  const AttemptEnd end = end_of(launcher);
  CHECK(end.cause == EndCause::kLost);
  CHECK_THAT(end.detail, Catch::Contains("has no record of job 12 any more"));
  CHECK(is_fenced(attempt));
}

TEST_CASE("A heartbeat keeps an attempt whose job Slurm has lost, until it stops",
          "[runner][slurm]") {
  Cluster cluster;
  const bool listed = GENERATE(false, true);
  runner::SlurmLauncher launcher(cluster.request);
  Attempt attempt = cluster.attempt();
  attempt.heartbeat_s = 0.1;
  if (listed) cluster.list(attempt, GENERATE("RUNNING|n1|None", "PENDING||BeginTime"));
  claim_elsewhere(attempt);
  runner::write_attempt(attempt);
  REQUIRE(launcher.resume(attempt));
  const double until_s = monotonic_s() + 0.5;
  for (int beat = 0; monotonic_s() < until_s; ++beat) {
    study::write_file_atomically(attempt.directory / "alive", std::to_string(beat));
    REQUIRE(launcher.wait(0.05, -1)->empty());
  }
  CHECK(end_of(launcher).cause == EndCause::kLost);
  CHECK(std::filesystem::exists(attempt.directory / "cancel"));  // in case it still runs
  if (listed)
    CHECK(cluster.clients.text("scancelled").find(cluster.job(attempt)) != std::string::npos);
}

TEST_CASE("A final state counts once files had time to appear", "[runner][slurm]") {
  Cluster cluster;
  const bool appears = GENERATE(false, true);
  if (appears) cluster.request.run.slurm.poll_s = 2;  // and so the time that they have
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  cluster.list(attempt, "FAILED|n1|NonZeroExitCode");
  launcher.submit(attempt);
  study::write_file_atomically(attempt.directory / "log", "sh: 1: exec: /x: not found\n");
  if (appears) {
    CHECK(wait_for(launcher, 0.1).empty());
    claim_elsewhere(attempt);
    exit_elsewhere(attempt);
    CHECK_FALSE(wait_for(launcher).at(0).end);
  } else {
    const AttemptEnd end = end_of(launcher);
    CHECK(end.cause == EndCause::kNotStarted);
    CHECK_THAT(end.detail, Catch::Contains("exec: /x: not found"));
    CHECK(is_fenced(attempt));
  }
}

TEST_CASE("A job that would never start is taken out of the queue", "[runner][slurm]") {
  Cluster cluster;
  const std::string reason =
      GENERATE("DependencyNeverSatisfied", "PartitionNodeLimit", "JobHeldAdmin",
               "launch failed requeued held", "BadConstraints");
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  cluster.list(attempt, "PENDING||" + reason);
  launcher.submit(attempt);
  const AttemptEnd end = end_of(launcher);
  CHECK(end.cause == EndCause::kNotStarted);
  CHECK_THAT(end.detail, Catch::Contains(reason));
  CHECK(is_fenced(attempt));
}

TEST_CASE("A job that waits, or is in a state never heard of, is waited for", "[runner][slurm]") {
  Cluster cluster;
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  cluster.list(attempt, GENERATE("PENDING||Resources", "PENDING||ReqNodeNotAvail", "NEW_STATE|n1|X",
                                 "COMPLETING|n1|None", "RUNNING|n1|None"));
  launcher.submit(attempt);
  CHECK(wait_for(launcher, 0.5).empty());
  CHECK_FALSE(is_fenced(attempt));
}

TEST_CASE("What sbatch refuses is not started, in Slurm's words", "[runner][slurm]") {
  Cluster cluster;
  cluster.clients.client("sbatch", "echo 'sbatch: error: invalid partition: x' >&2; exit 1");
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  launcher.submit(attempt);
  const AttemptEnd end = end_of(launcher);
  CHECK(end.cause == EndCause::kNotStarted);
  CHECK_THAT(end.detail, Catch::Contains("invalid partition: x"));
  CHECK(is_fenced(attempt));
}

TEST_CASE("An sbatch without an answer is looked up by name, never called again",
          "[runner][slurm]") {
  Cluster cluster;
  const std::string sbatch = GENERATE(
      "kill -9 $$", "echo 'Socket timed out on send/recv operation' >&2; exit 1", "echo what");
  CAPTURE(sbatch);
  cluster.clients.client("sbatch", "echo x >>$FAKE/submissions; " + sbatch);
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  SECTION("it had arrived") {
    cluster.list(attempt, "RUNNING|n1|None");
    launcher.submit(attempt);
    CHECK(wait_for(launcher, 0.4).empty());
    claim_elsewhere(attempt);
    exit_elsewhere(attempt);
    CHECK_FALSE(wait_for(launcher).at(0).end);
  }
  SECTION("it had not") {
    launcher.submit(attempt);
    CHECK(end_of(launcher).cause == EndCause::kLost);
    CHECK(is_fenced(attempt));
  }
  CHECK(cluster.clients.text("submissions") == "x\n");
}

TEST_CASE("A controller that cannot be reached is sent the job when it is back",
          "[runner][slurm]") {
  Cluster cluster;
  const std::string refusal =
      "echo 'Unable to contact slurm controller (connect failure)' >&2; exit 1";
  cluster.clients.client("sbatch", refusal);
  cluster.clients.client("squeue", refusal);
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  launcher.submit(attempt);
  CHECK(wait_for(launcher, 0.5).empty());
  cluster.clients.client("sbatch", "echo x >>$FAKE/submissions; echo 12");
  cluster.list(attempt, "RUNNING|n1|None");
  cluster.clients.client("squeue", "cat $FAKE/queue");
  wait_until(launcher, [&] { return !cluster.clients.text("submissions").empty(); });
  CHECK(wait_for(launcher, 0.2).empty());
  CHECK(cluster.clients.text("submissions") == "x\n");
}

TEST_CASE("A cancelled attempt ends as cancelled, begun or not", "[runner][slurm]") {
  Cluster cluster;
  auto launcher = std::make_unique<runner::SlurmLauncher>(cluster.request);
  const Attempt attempt = cluster.attempt();
  cluster.list(attempt, "PENDING||Resources");
  launcher->submit(attempt);
  CHECK(wait_for(*launcher, 0.2).empty());
  SECTION("before it began") {
    launcher->cancel(attempt.name);
    launcher->cancel(attempt.name);
    launcher->cancel("unknown");
    CHECK(end_of(*launcher).cause == EndCause::kCancelled);
    CHECK(is_fenced(attempt));
  }
  SECTION("while it was running") {
    claim_elsewhere(attempt);
    launcher->cancel(attempt.name);
    CHECK(wait_for(*launcher, 0.2).empty());
    CHECK(std::filesystem::exists(attempt.directory / "cancel"));
    exit_elsewhere(attempt, GENERATE(EndCause::kCancelled, EndCause::kLost));
    CHECK(end_of(*launcher).cause == EndCause::kCancelled);
  }
  launcher.reset();  // which sees to it that Slurm has heard
  CHECK(cluster.clients.text("scancelled").find("--name=" + cluster.job(attempt)) !=
        std::string::npos);
}

TEST_CASE("Who stopped an attempt, if not doetune, Slurm knows", "[runner][slurm]") {
  // doetune-attempt receives SIGTERM only.
  Cluster cluster;
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt attempt = cluster.attempt();
  struct Row {
    std::string columns;
    EndCause cause;
  };
  const auto row = GENERATE(values<Row>({{"TIMEOUT|n1|TimeLimit", EndCause::kTimeLimit},
                                         {"PREEMPTED|n1|None", EndCause::kLost},
                                         {"NODE_FAIL|n1|NodeDown", EndCause::kLost},
                                         {"CANCELLED|n1|None", EndCause::kLost},
                                         {"COMPLETING|n1|None", EndCause::kLost},
                                         {"FAILED|n1|NonZeroExitCode", EndCause::kLost}}));
  cluster.list(attempt, row.columns);
  launcher.submit(attempt);
  claim_elsewhere(attempt);
  CAPTURE(row.columns);
  const auto cause = GENERATE(EndCause::kLost, EndCause::kCancelled, EndCause::kExited);
  if (cause != EndCause::kExited) {
    exit_elsewhere(attempt, cause);
  } else {  // a scheduler's signal reaches the program as well
    AttemptEnd end;
    end.cause = EndCause::kExited;
    end.signal = 15;
    runner::write_end(attempt.directory, end);
  }
  CHECK(end_of(launcher).cause == row.cause);
}

TEST_CASE("Attempts of an earlier doetune are taken up by one look at the queue",
          "[runner][slurm]") {
  Cluster cluster;
  cluster.clients.client("squeue",
                         "echo x >>$FAKE/looks; for i in $(seq 2000); do [ -e $FAKE/go ] && break; "
                         "sleep 0.01; done; cat $FAKE/queue");
  runner::SlurmLauncher launcher(cluster.request);
  std::string queue;
  for (int run = 1; run <= 50; ++run) {
    const Attempt attempt = cluster.attempt("s." + std::to_string(run) + ".1");
    runner::write_attempt(attempt);
    queue += std::to_string(run) + "|RUNNING|n1|None|" + cluster.job(attempt) + "\n";
    REQUIRE(launcher.resume(attempt));
  }
  cluster.clients.file("queue", queue);
  wait_until(launcher, [&] { return !cluster.clients.text("looks").empty(); });
  CHECK(wait_for(launcher, 0.2).empty());
  CHECK(cluster.clients.text("looks") == "x\n");
  cluster.clients.file("go", "");
  CHECK(cluster.clients.text("submissions").empty());
}

TEST_CASE("A job of an attempt that is long over is taken out of the queue, no other one",
          "[runner][slurm]") {
  // As left by a controller that restarted after a crash.
  Cluster cluster;
  auto launcher = std::make_unique<runner::SlurmLauncher>(cluster.request);
  const Attempt over = cluster.attempt("s.1.1");
  const Attempt current = cluster.attempt("s.1.2");
  cluster.clients.file("queue", "12|PENDING||BeginTime|" + cluster.job(over) +
                                    "\n13|PENDING||Resources|" + cluster.job(current) +
                                    "\n14|PENDING||Resources|another's\n");
  launcher->submit(current);
  wait_until(*launcher, [&] {
    return cluster.clients.text("scancelled").find(cluster.job(over)) != std::string::npos;
  });
  launcher.reset();
  const std::string scancelled = cluster.clients.text("scancelled");
  CHECK(scancelled.find(cluster.job(over)) != std::string::npos);
  CHECK(scancelled.find(cluster.job(current)) == std::string::npos);
  CHECK(scancelled.find("another") == std::string::npos);
}

TEST_CASE("Of an attempt that was never submitted, or was given up, nothing runs",
          "[runner][slurm]") {
  Cluster cluster;
  runner::SlurmLauncher launcher(cluster.request);
  const Attempt unsubmitted = cluster.attempt("s.1.1");
  CHECK_FALSE(launcher.resume(unsubmitted));
  CHECK(is_fenced(unsubmitted));
  CHECK_FALSE(launcher.resume(unsubmitted));
}

TEST_CASE("A node that lost two attempts gets no third", "[runner][slurm]") {
  Cluster cluster;
  cluster.clients.client("sbatch", "for a; do echo \"$a\" >>$FAKE/arguments; done; echo 12");
  runner::SlurmLauncher launcher(cluster.request);
  for (const char* name : {"s.1.1", "s.1.2", "s.1.3"}) {
    CHECK(cluster.clients.text("arguments").find("--exclude") == std::string::npos);
    const Attempt attempt = cluster.attempt(name);
    cluster.list(attempt, "NODE_FAIL|n7|NodeDown");
    launcher.submit(attempt);
    CHECK(end_of(launcher).cause == EndCause::kLost);
  }
  CHECK(cluster.clients.text("arguments").find("--exclude=n7") != std::string::npos);
  REQUIRE(cluster.notes.size() == 1);
  CHECK_THAT(cluster.notes[0], Catch::Contains("node n7"));
}

TEST_CASE("A node whose attempts could still say that they were stopped is used on",
          "[runner][slurm]") {
  // Two calls of scancel, say: doetune-attempt writes `exit` before it ends.
  Cluster cluster;
  cluster.clients.client("sbatch", "for a; do echo \"$a\" >>$FAKE/arguments; done; echo 12");
  runner::SlurmLauncher launcher(cluster.request);
  for (const char* name : {"s.1.1", "s.1.2", "s.1.3"}) {
    const Attempt attempt = cluster.attempt(name);
    cluster.list(attempt, "FAILED|n7|NonZeroExitCode");
    launcher.submit(attempt);
    claim_elsewhere(attempt);
    AttemptEnd stopped;
    stopped.cause = EndCause::kLost;
    stopped.host = "n7";
    runner::write_end(attempt.directory, stopped);
    CHECK(end_of(launcher).cause == EndCause::kLost);
  }
  CHECK(cluster.clients.text("arguments").find("--exclude") == std::string::npos);
  CHECK(cluster.notes.empty());
}

TEST_CASE("Jobs in the queue at once are limited, and Slurm assigns the GPUs", "[runner][slurm]") {
  Cluster cluster;
  const runner::SlurmLauncher launcher(cluster.request);
  study::RunSettings run;
  run.slurm.max_queued = 30;
  const auto capacities = launcher.capacities(run, {});
  REQUIRE(capacities.size() == 1);
  CHECK(capacities[0].jobs == 30);
  CHECK_FALSE(capacities[0].assigns_gpus);
  CHECK(launcher.capacities(run, {5, {}})[0].jobs == 5);
  CHECK(launcher.capacities(run, {500, {}})[0].jobs == 30);
  CHECK_THROWS_WITH(launcher.capacities(run, {{}, {"0"}}), Catch::Contains("--gpus"));
  run.runs_per_gpu = 2;
  CHECK_THROWS_WITH(launcher.capacities(run, {}), Catch::Contains("shard"));

  run.runs_per_gpu = 1;
  cluster.clients.client(
      "scontrol", "echo 'scontrol: fatal: Could not establish a configuration source' >&2; exit 1");
  CHECK_THROWS_WITH(launcher.capacities(run, {}), Catch::Contains("set SLURM_CONF"));
  ::setenv("PATH", "/nonexistent", 1);
  CHECK_THROWS_WITH(launcher.capacities(run, {}), Catch::Contains("Debian: slurm-client"));
}
