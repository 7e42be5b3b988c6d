#include "cli/smoke_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "runner/launchers/local_launcher.h"
#include "runner/loop/progress_printer.h"
#include "runner/loop/run_study.h"
#include "runner/processes/bounded_file.h"
#include "runner/processes/output_text.h"
#include "study/journal.h"

namespace doetune::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = 4096;
constexpr std::size_t kMaxLines = 8;

constexpr std::string_view kScratchName = ".doetune-check-";

/// Locks a directory against other processes; not open if another process has it, or it is gone.
FileDescriptor lock_directory(const fs::path& directory) {
  FileDescriptor opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  const bool ours = opened.is_open() && ::fstat(opened.get(), &status) == 0 &&
                    status.st_uid == ::geteuid() && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0 &&
                    ::fstat(opened.get(), &status) == 0 && status.st_nlink > 0;
  return ours ? std::move(opened) : FileDescriptor();
}

/// A new directory that is removed with the object. It is locked meanwhile: an unlocked one was
/// left by a killed process.
class Scratch {
 public:
  explicit Scratch(const fs::path& parent) {
    while (!lock_.is_open()) {  // retries if it was removed as a leftover before it was locked
      std::string name = (parent / fmt::format("{}XXXXXX", kScratchName)).string();
      if (::mkdtemp(name.data()) == nullptr) {
        throw study::DirectoryError(
            fmt::format("{}: cannot create a scratch directory there", parent.string()));
      }
      path_ = name;
      lock_ = lock_directory(path_);
    }
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

fs::path scratch_parent(const study::StudyDirectory& planned) {
  return planned.study.run.launcher == "local" ? fs::temp_directory_path()
                                               : planned.working_directory;
}

/// Kills processes left by a killed check, and removes its directory.
void remove_scratch(const fs::path& left) {
  const FileDescriptor lock = lock_directory(left);
  if (!lock.is_open()) return;
  std::error_code error;
  for (const auto& attempt : fs::directory_iterator(left / "study" / "runs", error)) {
    runner::LocalLauncher::kill_left_behind(attempt.path());
  }
  fs::remove_all(left, error);
}

/// Shows that the run is in progress; the caller reports how it ended.
struct WaitingLine : runner::ProgressPrinter {
  using ProgressPrinter::ProgressPrinter;
  void ended(const runner::Progress&, const study::PlannedRun&, const study::RunRecord&,
             const fs::path&, bool) override {}
};

std::string last_lines(const fs::path& file) {
  const std::string tail = runner::read_tail(file, kMaxBytes);
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
  for (const auto& entry : fs::directory_iterator(scratch_parent(planned), error)) {
    if (entry.path().filename().string().starts_with(kScratchName)) remove_scratch(entry.path());
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
  const Scratch scratch(scratch_parent(planned));
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
  smoke.printed = last_lines(attempt / "stdout") + last_lines(attempt / "stderr");
  return smoke;
}

}  // namespace doetune::cli
