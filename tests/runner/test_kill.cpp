// The runner killed at any time: every acknowledged run survives exactly once.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "base/random.h"
#include "runner/processes/proc_files.h"
#include "study/directory/directory.h"
#include "study/directory/journal.h"
#include "tests/temporary_directory.h"

using namespace doetune;

namespace {

constexpr int kKills = 200;
constexpr int kRuns = 600;

struct Driver {
  pid_t pid;
  int output;
};

Driver start_driver(const tests::TemporaryDirectory& temporary) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl(KILL_DRIVER, KILL_DRIVER, (temporary / "study").c_str(), std::to_string(kRuns).c_str(),
            "2", KILL_WORKLOAD, (temporary / "executions").c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = ::read(descriptor, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

/// Adds the driver's output: the attempt by which each run was acknowledged.
void add_acknowledged(const std::string& text, std::map<int, int>& acknowledged) {
  std::istringstream lines(text);
  for (int run = 0, attempt = 0; lines >> run >> attempt;) {
    CAPTURE(run);
    REQUIRE(acknowledged.emplace(run, attempt).second);  // never acknowledged twice
  }
}

/// Starts the driver and kills it: some time after its start, while it resumes earlier runs, or
/// after its first acknowledgement, while it executes runs.
std::string run_and_kill(const tests::TemporaryDirectory& temporary, RandomStream& random) {
  const Driver driver = start_driver(temporary);
  std::string text;
  if (random.below(2) == 0) {
    std::array<char, 4096> buffer;
    const ssize_t got = ::read(driver.output, buffer.data(), buffer.size());
    text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(20000)));
  ::kill(driver.pid, SIGKILL);
  text += read_all(driver.output);
  ::close(driver.output);
  ::waitpid(driver.pid, nullptr, 0);
  return text;
}

std::vector<pid_t> processes_under(const std::filesystem::path& directory) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    const std::string environment =
        pid > 0 ? runner::read_proc_file(entry.path() / "environ") : std::string();
    if (environment.find("DOETUNE_RESULT=" + directory.string()) != std::string::npos) {
      found.push_back(pid);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("Killed at 200 random moments, the runner loses no acknowledged run and repeats none",
          "[runner][kill]") {
  // The crash-safety guarantee: acknowledged means on disk.
  const tests::TemporaryDirectory temporary;
  std::map<int, int> acknowledged;
  RandomStream random(2026, 1);
  for (int kill = 0; kill < kKills; ++kill) {
    add_acknowledged(run_and_kill(temporary, random), acknowledged);
  }
  const auto acknowledged_under_fire = acknowledged.size();
  const Driver driver = start_driver(temporary);
  add_acknowledged(read_all(driver.output), acknowledged);
  ::close(driver.output);
  int status = 0;
  ::waitpid(driver.pid, &status, 0);
  REQUIRE(status == 0);
  CHECK(acknowledged_under_fire > kKills / 4);  // the kills came while runs were executed
  CHECK(acknowledged_under_fire < kRuns);

  const auto content = study::read_journal(temporary / "study/runs.jsonl");
  CHECK(content.warnings.empty());
  std::map<int, int> completed;
  for (const auto& record : content.records) {
    if (record.status != study::RunStatus::kCompleted) continue;
    CAPTURE(record.run);
    REQUIRE(completed.emplace(record.run, record.attempt).second);  // exactly once
    REQUIRE(record.responses.at("y") == record.run);
  }
  CHECK(completed.size() == kRuns);
  for (const auto& [run, attempt] : acknowledged) {
    CAPTURE(run);
    REQUIRE(completed.at(run) == attempt);
  }

  std::map<int, std::map<int, int>> executions;
  std::ifstream log(temporary / "executions");
  for (int run = 0, attempt = 0; log >> run >> attempt;) ++executions[run][attempt];
  for (const auto& [run, attempts] : executions) {
    CAPTURE(run);
    REQUIRE(attempts.rbegin()->first <= completed.at(run));  // none after it was completed
    for (const auto& [attempt, times] : attempts) REQUIRE(times == 1);
  }
  CHECK(processes_under(temporary.path()).empty());
}
