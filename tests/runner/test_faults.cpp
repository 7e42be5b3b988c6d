// Faults of the machine: after each one every acknowledged run exists exactly once, and the study
// continues with the next call.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

#include "runner/conditions/store.h"
#include "runner/launchers/local_launcher.h"
#include "runner/loop/run_study.h"
#include "study/directory/journal.h"
#include "tests/runner/fake_study.h"
#include "tests/runner/fake_world.h"
#include "tests/runner/silent.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using study::RunStatus;

namespace {

runner::RunSummary run(const study::StudyDirectory& directory) {
  runner::LocalLauncher launcher;
  tests::SilentSink sink;
  tests::FakeInterrupts interrupts;
  return runner::run_study(directory, {}, launcher, sink, interrupts);
}

/// How often each run was completed, according to the journal.
std::map<int, int> completions(const study::StudyDirectory& directory) {
  std::map<int, int> count;
  for (const auto& record : study::read_journal(directory.journal()).records) {
    if (record.status == RunStatus::kCompleted) ++count[record.run];
  }
  return count;
}

void check_once_each(const study::StudyDirectory& directory) {
  const auto count = completions(directory);
  CHECK(count.size() == directory.plan.runs.size());
  for (const auto& [run, times] : count) {
    CAPTURE(run);
    CHECK(times == 1);
  }
}

/// A small disk of this process, which disappears with its mount namespace.
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& at) : at_(at) {
    std::filesystem::create_directories(at);
    is_there_ = ::unshare(CLONE_NEWNS) == 0 &&
                ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                ::mount("none", at.c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  ~SmallDisk() {
    if (is_there_) ::umount2(at_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_there() const { return is_there_; }

  void remount(unsigned long flags, const char* size) const {
    REQUIRE(::mount("none", at_.c_str(), "tmpfs", MS_REMOUNT | flags, size) == 0);
  }

 private:
  std::filesystem::path at_;
  bool is_there_ = false;
};

}  // namespace

TEST_CASE("A full disk ends the call with a message, and with room the study goes on",
          "[runner][faults]") {
  const tests::TemporaryDirectory temporary;
  const SmallDisk disk(temporary / "disk");
  if (!disk.is_there()) {
    WARN("skipped: this user cannot mount");
    return;
  }
  auto directory = tests::shell_study(temporary / "disk/study", 100, "echo '{{\"y\": 1}}'");
  REQUIRE_THROWS_AS(run(directory), study::DirectoryError);
  const auto before = completions(directory);
  CHECK(before.size() > 2);
  CHECK(before.size() < 100);
  disk.remount(0, "size=64m");
  CHECK(run(directory).counts.completed == 100);
  check_once_each(directory);
}

TEST_CASE("A study directory that became read-only is reported, and goes on once it is writable",
          "[runner][faults]") {
  const tests::TemporaryDirectory temporary;
  const SmallDisk disk(temporary / "disk");
  if (!disk.is_there()) {
    WARN("skipped: this user cannot mount");
    return;
  }
  auto directory = tests::shell_study(temporary / "disk/study", 4, "echo '{{\"y\": 1}}'");
  disk.remount(MS_RDONLY, "size=4m");
  CHECK_THROWS_WITH(run(directory), Catch::Contains((temporary / "disk/study").string()));
  disk.remount(0, "size=4m");
  CHECK(run(directory).counts.completed == 4);
  check_once_each(directory);
}

TEST_CASE("A journal with every line twice has each run once", "[runner][faults]") {
  tests::World world;
  world.run();
  std::ifstream journal(world.directory.journal());
  std::string twice;
  for (std::string line; std::getline(journal, line);) twice += line + "\n" + line + "\n";
  std::ofstream(world.directory.journal(), std::ios::trunc) << twice;
  CHECK(world.run().counts.completed == 4);
  CHECK(world.launcher.submitted.size() == 4);  // those of the first call
}

TEST_CASE("The result that counts is the one that is there, whole, when the program ends",
          "[runner][faults]") {
  const tests::TemporaryDirectory temporary;
  const auto record_of = [&](const std::string& script) {
    const auto directory = tests::shell_study(temporary / "study", 1, script);
    run(directory);
    const auto records = study::read_journal(directory.journal()).records;
    REQUIRE(records.size() == 1);
    return records[0];
  };
  SECTION("of two the later") {
    const auto record =
        record_of("echo '{{\"y\": 1}}' >$2; echo '{{\"y\": 2}}' >$2.new; mv $2.new $2");
    CHECK(record.responses.at("y") == 2);
  }
  SECTION("half of one is none") {
    const auto record = record_of("printf '{{\"y\": 12' >$2");
    CHECK(record.status == RunStatus::kFailed);
    CHECK_THAT(record.reason, Catch::Contains("result.json is not a JSON object"));
  }
  SECTION("one that would come later does not come at all") {
    const auto record = record_of("(sleep 0.3; echo '{{\"y\": 1}}' >$2) & exit 0");
    CHECK(record.status == RunStatus::kFailed);
    ::usleep(500'000);
    CHECK_FALSE(std::filesystem::exists(temporary / "study/runs/0001.1/result.json"));
  }
}

TEST_CASE("Ten thousand files in the run directory, or among the runs, disturb nothing",
          "[runner][faults]") {
  const tests::TemporaryDirectory temporary;
  const auto directory = tests::shell_study(
      temporary / "study", 2, "cd $(dirname $2) && seq 10000 | xargs touch; echo '{{\"y\": 1}}'");
  std::filesystem::create_directories(directory.path / "runs");
  for (int i = 0; i < 10000; ++i) {
    std::ofstream(directory.path / "runs" / fmt::format("{}.{}x", i, i)) << "";
  }
  CHECK(run(directory).counts.completed == 2);
  check_once_each(directory);
  CHECK(run(directory).counts.completed == 2);
  check_once_each(directory);
}

TEST_CASE("Conditions noted by a clock that was wrong are noted anew", "[runner][faults]") {
  const tests::TemporaryDirectory temporary;
  runner::note_conditions(temporary.path(), "/", {});
  const auto file = temporary / "conditions" / fmt::format("host-{}.json", runner::node_name());
  const auto in_years = std::chrono::hours(24 * 365 * 10);
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() + in_years);
  runner::note_conditions(temporary.path(), "/", {});
  CHECK(std::filesystem::last_write_time(file) <
        std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  const std::string id = runner::ConditionsStore(temporary.path()).id_of(runner::node_name());
  CHECK(std::filesystem::exists(temporary / "conditions" / (id + ".json")));
  CHECK(runner::ConditionsStore(temporary.path()).id_of("../../etc/passwd").empty());
}
