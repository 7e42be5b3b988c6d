// Every way a workload can misbehave ends in a recorded outcome; nothing is left running.
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "runner/launchers/local_launcher.h"
#include "runner/loop/run_study.h"
#include "runner/processes/process_table.h"
#include "runner/processes/run_error.h"
#include "study/directory/journal.h"
#include "tests/runner/fake_study.h"
#include "tests/runner/silent.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using study::RunRecord;
using study::RunStatus;
using study::StudyDirectory;

namespace {

constexpr double kHang_s = 30;  ///< generous: only a hang takes this long

std::vector<RunRecord> run_all(const StudyDirectory& directory) {
  runner::LocalLauncher launcher;
  tests::SilentSink sink;
  tests::FakeInterrupts interrupts;
  const double began_s = monotonic_s();
  runner::run_study(directory, {}, launcher, sink, interrupts);
  CHECK(monotonic_s() - began_s < kHang_s);
  return study::read_journal(directory.journal()).records;
}

/// The record of a single-run study with a shell script as its workload.
RunRecord run_script(const tests::TemporaryDirectory& temporary, const std::string& script) {
  const auto records = run_all(tests::shell_study(temporary / "study", 1, script));
  REQUIRE(records.size() == 1);
  return records[0];
}

std::string read(const std::filesystem::path& file) { return study::read_file(file); }

bool is_dead(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return !(stat >> number >> name >> state) || state == "Z";
}

/// Whether a process dies within the time that a kill takes.
bool is_gone(pid_t pid) {
  for (int i = 0; i < 500 && !is_dead(pid); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return is_dead(pid);
}

pid_t pid_in(const std::filesystem::path& file) {
  pid_t pid = 0;
  std::ifstream(file) >> pid;
  return pid;
}

}  // namespace

TEST_CASE("A workload may end its output with JSON", "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  const auto record = run_script(temporary, R"(echo warming up; echo "{{\"y\": $1.5}}")");
  CHECK(record.status == RunStatus::kCompleted);
  CHECK(record.responses.at("y") == 1.5);
  CHECK(record.reason.empty());
  CHECK(read(temporary / "study/runs/0001.1/stdout") == "warming up\n{\"y\": 1.5}\n");
}

TEST_CASE("A workload may write result.json", "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  const auto record = run_script(
      temporary,
      R"(echo '{{"responses": {{"y": [1, 2, 6]}}, "notes": {{"engine": "onednn"}}}}' > "$2.tmp"
                    mv "$2.tmp" "$DOETUNE_RESULT"; cat "$DOETUNE_REQUEST")");
  CHECK(record.status == RunStatus::kCompleted);
  CHECK(record.responses.at("y") == 3);  // the mean of the repeats
  CHECK(record.notes.at("engine") == "onednn");
  CHECK_THAT(read(temporary / "study/runs/0001.1/stdout"), Catch::Contains("\"x\": 1"));
}

TEST_CASE("A workload that gives no usable response has failed, with the reason",
          "[runner][workloads]") {
  struct Case {
    std::string script;
    std::string reason;
  };
  const auto [script, reason] = GENERATE(values<Case>({
      {"true", "no result.json, and no JSON object"},
      {"echo hello", "no result.json, and no JSON object"},
      {R"(echo '{{"y": NaN}}')", "'y' in the output's last JSON object is not a finite number"},
      {R"(echo '{{"y": -Infinity}}')", "not a finite number"},
      {R"(echo '{{"y": "fast"}}')", "not a finite number"},
      {R"(echo '{{"y": []}}')", "not a finite number"},
      {R"(echo '{{"yy": 1}}')", "last JSON object has no 'y'; expected one of yy"},
      {R"(echo '{{"y": 1' > $2)", "result.json is not a JSON object"},
      {R"(echo '[1]' > $2)", "result.json is not a JSON object"},
      {R"(head -c 100000 /dev/urandom > $2)", "result.json is not a JSON object"},
      {R"(head -c 100000 /dev/urandom)", "no JSON object"},
      {R"(yes '[' | head -n 1000000 | tr -d '\n' > $2)", "result.json is not a JSON object"},
      {R"(yes '{{"a":' | head -n 1000000 | tr -d '\n')", "no JSON object"},
      {R"(truncate -s 17M $2)", "result.json is not a regular file of at most 16 MiB"},
      {R"(mkdir $2)", "not a regular file"},
      {R"(mkfifo $2)", "not a regular file"},
      {R"(ln -s /dev/zero $2)", "not a regular file"},
      {R"(ln -s /etc/passwd $2)", "not a regular file"},
      {"exit 3", "exit code 3"},
      {"echo all is lost >&2; exit 3", "exit code 3: all is lost"},
      {R"(echo '{{"y": 1}}'; exit 1)", "exit code 1"},
      {"kill -SEGV $$", "signal 11"},
      {"kill -KILL $$", "signal 9"},
  }));
  CAPTURE(script);
  const tests::TemporaryDirectory temporary;
  const auto record = run_script(temporary, script);
  CHECK(record.status == RunStatus::kFailed);
  CHECK_THAT(record.reason, Catch::Contains(reason));
  CHECK(record.responses.empty());
}

TEST_CASE("Settings that cannot run are infeasible, and never tried again", "[runner][workloads]") {
  const auto script = GENERATE(as<std::string>(), "exit 77", "echo CUDA out of memory >&2; exit 1",
                               "echo 'terminate called: std::bad_alloc' >&2; kill -ABRT $$");
  CAPTURE(script);
  const tests::TemporaryDirectory temporary;
  auto directory = tests::shell_study(temporary / "study", 1, script);
  directory.study.run.retries = {2, 2};
  CHECK(run_all(directory).size() == 1);
  const auto records = run_all(directory);  // a second call does not change it
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == RunStatus::kInfeasible);
}

TEST_CASE("A failing run is tried again up to the limit, and anew by the next call",
          "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  auto directory = tests::shell_study(temporary / "study", 1, "exit 1");
  directory.study.run.retries = {2, 2};
  CHECK(run_all(directory).size() == 3);
  const auto records = run_all(directory);
  REQUIRE(records.size() == 6);
  CHECK(records.back().attempt == 6);
}

TEST_CASE("A workload that ignores SIGTERM is killed after the grace", "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  auto directory = tests::shell_study(temporary / "study", 1,
                                      "trap '' TERM; echo $$ > pid; while :; do sleep 1; done");
  directory.study.run.timeout_s = 0.3;
  const auto records = run_all(directory);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == RunStatus::kTimedOut);
  CHECK_THAT(records[0].reason, Catch::Contains("time limit of 0.3 s"));
  CHECK(records[0].duration_s >= 0.5);  // time limit and grace period
  CHECK(is_gone(pid_in(temporary / "study/pid")));
}

TEST_CASE("A workload may clean up at SIGTERM", "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  auto directory =
      tests::shell_study(temporary / "study", 1, "trap 'echo bye; exit' TERM; sleep 60 & wait");
  directory.study.run.timeout_s = 0.3;
  directory.study.run.stop_grace_s = 20;
  const auto records = run_all(directory);
  CHECK(records.at(0).status == RunStatus::kTimedOut);
  CHECK(read(temporary / "study/runs/0001.1/stdout") == "bye\n");
}

TEST_CASE("What a workload leaves running is killed", "[runner][workloads]") {
  const auto leave = GENERATE(as<std::string>(),
                              "sleep 1000 & echo $! > pid",         // same group
                              "setsid sleep 1000 & echo $! > pid",  // own session
                              "(setsid sh -c 'sleep 1000 & echo $! > pid; exec sleep 1000' &)\n"
                              "while ! test -s pid; do sleep 0.01; done",         // orphan's child
                              "setsid env -i sleep 1000 & echo $! > pid",         // no environment
                              "trap '' HUP TERM INT; sleep 1000 & echo $! > pid"  // ignores signals
  );
  CAPTURE(leave);
  const tests::TemporaryDirectory temporary;
  const auto record = run_script(temporary, leave + R"(; echo '{{"y": 1}}')");
  CHECK(record.status == RunStatus::kCompleted);
  const pid_t pid = pid_in(temporary / "study/pid");
  REQUIRE(pid > 0);
  CHECK(is_gone(pid));
}

TEST_CASE("A gigabyte of output neither blocks nor fills the disk", "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  const auto record =
      run_script(temporary, R"(head -c 1000000000 /dev/zero; echo; echo '{{"y": 1}}')");
  CHECK(record.status == RunStatus::kCompleted);
  const auto file = temporary / "study/runs/0001.1/stdout";
  CHECK(std::filesystem::file_size(file) < (9 << 20) + 100);
  CHECK_THAT(read(file), Catch::Contains("bytes omitted here]"));
}

TEST_CASE("A workload that spoils its attempt directory has failed, and the others go on",
          "[runner][workloads]") {
  // The runner may create a file there while rm is running; rm is repeated until it succeeds.
  const auto spoil =
      GENERATE(as<std::string>(), "until rm -rf \"$d\"; do :; done", "mkdir \"$d/exit\"",
               "mkdir \"$d/exit.$PPID.partial\"", "until rm -rf \"$d\"; do :; done; touch \"$d\"");
  CAPTURE(spoil);
  const tests::TemporaryDirectory temporary;
  const auto directory = tests::shell_study(
      temporary / "study", 2,
      R"(d=${{2%/*}}; echo '{{"y": 1}}'; if [ $1 = 1 ]; then )" + spoil + "; fi");
  const auto records = run_all(directory);
  REQUIRE(records.size() == 2);
  CHECK(records[0].status == RunStatus::kFailed);
  CHECK_THAT(records[0].reason, Catch::Contains("its exit status could not be written"));
  CHECK(records[0].duration_s > 0);
  CHECK(records[1].status == RunStatus::kCompleted);
}

TEST_CASE("A missing program is found before anything is run", "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  auto directory = tests::fake_study(temporary / "study", 2, {"./bench", "{x}"});
  CHECK_THROWS_WITH(run_all(directory),
                    Catch::Contains("cannot run './bench'") && Catch::Contains("does not exist"));
  directory.study.command = {"no-such-program"};
  CHECK_THROWS_WITH(run_all(directory), Catch::Contains("no such program in PATH"));
  CHECK_FALSE(std::filesystem::exists(temporary / "study/runs"));
}

TEST_CASE("A program that cannot be started is a failed run", "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  const auto program = temporary / "study/bench";
  const auto directory = tests::fake_study(temporary / "study", 1, {"./bench"});
  std::ofstream(program) << "echo no first line\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto records = run_all(directory);
  REQUIRE(records.size() == 1);
  CHECK(records[0].status == RunStatus::kFailed);
  CHECK_THAT(records[0].reason, Catch::Contains("Exec format error") && Catch::Contains("#!"));
}

TEST_CASE("A run's program has the terminal's signals and descriptors of nobody",
          "[runner][workloads]") {
  const tests::TemporaryDirectory temporary;
  run_script(temporary, R"(ls /proc/self/fd | tr '\n' ' '; grep -E 'SigBlk|SigIgn' /proc/self/status
                           cat; echo '{{"y": 1}}')");
  const std::string output = read(temporary / "study/runs/0001.1/stdout");
  CHECK_THAT(output, Catch::StartsWith("0 1 2 3 "));  // 3: ls reading the directory
  CHECK_THAT(output, Catch::Contains("SigBlk:\t0000000000000000"));
  CHECK_THAT(output, Catch::Contains("SigIgn:\t0000000000000000"));
}
