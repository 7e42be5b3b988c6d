#include "cli/smoke_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

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

/// A new directory that goes with the object.
class Scratch {
 public:
  explicit Scratch(const fs::path& parent) {
    std::string name = (parent / ".doetune-check-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw study::DirectoryError(
          fmt::format("{}: cannot create a scratch directory there", parent.string()));
    }
    path_ = name;
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
};

/// Shows that the run is under way; how it ended is told by whoever asked for it.
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

SmokeRun make_smoke_run(const study::StudyDirectory& planned) {
  SmokeRun smoke{central_run(planned), {}, "", false};
  study::Study study = planned.study;
  study.run.retries = {0, 0, 0};
  study.run.after_run.clear();
  study.run.after_all.clear();
  study::Plan plan = planned.plan;
  plan.runs = {smoke.run};
  plan.runs.front().run = 1;
  const bool here = study.run.launcher == "local";
  const Scratch scratch(here ? fs::temp_directory_path() : planned.working_directory);
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
