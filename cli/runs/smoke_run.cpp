#include "cli/runs/smoke_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "runner/attempts/attempt_watch.h"
#include "runner/launchers/local_launcher.h"
#include "runner/loop/progress_printer.h"
#include "runner/loop/run_study.h"
#include "runner/processes/output_text.h"
#include "study/directory/journal.h"
#include "study/files.h"

namespace doetune::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = 4096;
constexpr std::size_t kMaxLines = 8;
constexpr std::chrono::seconds kFresh(60);  ///< age of a heartbeat; more than any interval

constexpr std::string_view kScratchName = ".doetune-check-";

/// Locks a directory against other processes of this machine. Not open if that failed: `error` is
/// ENOENT if it is gone, EWOULDBLOCK if another process has it.
FileDescriptor lock_directory(const fs::path& directory, std::error_code& error) {
  FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  int failure = 0;
  if (!opened.is_open() || ::flock(opened.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::fstat(opened.get(), &status) != 0) {
    failure = errno;
  } else if (status.st_nlink == 0) {
    failure = ENOENT;
  }
  error.assign(failure, std::generic_category());
  if (error) opened.close();
  return opened;
}

bool is_own(const FileDescriptor& directory) {
  struct stat status {};
  return ::fstat(directory.get(), &status) == 0 && status.st_uid == ::geteuid();
}

[[noreturn]] void fail_without_scratch(const fs::path& parent, const std::error_code& error) {
  study::fail_at_path(parent,
                      fmt::format("cannot create a scratch directory there: {}", error.message()));
}

/// A new directory that is removed with the object. It is locked meanwhile: an unlocked one was
/// left by a killed process.
class Scratch {
 public:
  explicit Scratch(const fs::path& parent) {
    // Until it is locked, another process may remove it as a leftover.
    std::error_code error;
    do {
      std::string name = (parent / fmt::format("{}XXXXXX", kScratchName)).string();
      if (::mkdtemp(name.data()) == nullptr) {
        fail_without_scratch(parent, {errno, std::generic_category()});
      }
      path_ = name;
      lock_ = lock_directory(path_, error);
    } while (error == std::errc::no_such_file_or_directory ||
             error == std::errc::operation_would_block);
    if (!error) return;
    std::error_code ignored;
    fs::remove(path_, ignored);
    fail_without_scratch(parent, error);
  }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  FileDescriptor lock_;
};

fs::path scratch_parent(const study::StudyDirectory& planned, std::error_code& error) {
  return planned.study.run.launcher == "local" ? fs::temp_directory_path(error)
                                               : planned.working_directory;
}

/// Asks an attempt of a killed check to stop. Returns whether it may still run on another machine:
/// the file server wrote both times, so no clocks are compared.
bool may_run_elsewhere(const fs::path& attempt) {
  const runner::AttemptWatch watch(attempt, 0, monotonic_s());
  if (watch.ended() || watch.fence()) return false;
  std::error_code no_heartbeat, not_asked;
  const auto beat = fs::last_write_time(attempt / "alive", no_heartbeat);
  const auto asked = fs::last_write_time(attempt / "cancel", not_asked);
  return !no_heartbeat && !not_asked && asked - beat < kFresh;
}

/// Kills processes left by a killed check, and removes its directory once its run has ended.
void remove_scratch(const fs::path& left) {
  std::error_code error;
  const FileDescriptor lock = lock_directory(left, error);
  if (error || !is_own(lock)) return;
  if (study::lock_owner(left / "study")) return;  // in use on another machine
  bool in_use = false;
  for (const auto& attempt : fs::directory_iterator(left / "study" / "runs", error)) {
    runner::LocalLauncher::kill_left_behind(attempt.path());
    in_use = may_run_elsewhere(attempt.path()) || in_use;
  }
  if (!in_use) fs::remove_all(left, error);
}

/// Shows that the run is in progress; the caller reports how it ended.
struct WaitingLine : runner::ProgressPrinter {
  using ProgressPrinter::ProgressPrinter;
  void ended(const runner::Progress&, const study::PlannedRun&, const study::RunRecord&,
             const fs::path&, bool) override {}
};

std::string last_lines(const fs::path& file) {
  const std::string tail = read_tail(file, kMaxBytes);
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < tail.size();) {
    const std::size_t end = std::min(tail.find('\n', begin), tail.size());
    const std::string line = runner::printable(tail.substr(begin, end - begin));
    if (!line.empty()) lines.push_back(line);
    begin = end + 1;
  }
  std::string text;
  for (std::size_t i = lines.size() - std::min(lines.size(), kMaxLines); i < lines.size(); ++i) {
    text += lines[i] + '\n';
  }
  return text;
}

}  // namespace

const study::PlannedRun& central_run(const study::StudyDirectory& planned) {
  const Eigen::MatrixXd coded = planned.plan.coded(planned.study.factors);
  Eigen::Index nearest = 0;
  coded.rowwise().squaredNorm().minCoeff(&nearest);
  return planned.plan.runs[static_cast<std::size_t>(nearest)];
}

void remove_left_smoke_runs(const study::StudyDirectory& planned) {
  std::error_code error;
  const fs::path parent = scratch_parent(planned, error);
  if (error) return;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (!entry.path().filename().string().starts_with(kScratchName)) continue;
    try {
      remove_scratch(entry.path());
    } catch (const study::DirectoryError&) {  // just removed by its owner, or not writable
    }
  }
}

SmokeRun make_smoke_run(const study::StudyDirectory& planned) {
  SmokeRun smoke{central_run(planned), {}, "", false};
  study::Study study = planned.study;
  study.run.retries = {0, 0, 0};
  study.run.after_run.clear();
  study.run.after_all.clear();
  study::Plan plan = planned.plan;
  plan.runs = {smoke.run};
  plan.runs.front().run = 1;
  remove_left_smoke_runs(planned);
  std::error_code error;
  const fs::path parent = scratch_parent(planned, error);
  if (error) study::fail_at_path("TMPDIR", "cannot hold a scratch directory: " + error.message());
  const Scratch scratch(parent);
  study::StudyDirectory directory =
      study::create_directory(scratch.path() / "study", study, plan, false);
  directory.working_directory = planned.working_directory;

  const auto launcher = runner::make_launcher(
      study.run.launcher, {study.name, fs::absolute(directory.path), study.run});
  WaitingLine printer(study, runner::ProgressOutput::of(stderr));
  runner::SignalInterrupts interrupts;
  smoke.interrupted = runner::run_study(directory, {}, *launcher, printer, interrupts).interrupted;
  const auto records = study::final_records(study::read_journal(directory).records);
  if (records.empty()) return smoke;
  smoke.record = records.begin()->second;
  const fs::path attempt = directory.attempt(1, smoke.record.attempt);
  smoke.printed = printed_in(attempt);
  return smoke;
}

std::string printed_in(const fs::path& attempt) {
  return last_lines(attempt / "stdout") + last_lines(attempt / "stderr");
}

}  // namespace doetune::cli
