// Progress as text: a status line on a terminal, plain lines elsewhere.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/loop/progress.h"
#include "study/study.h"

namespace doetune::runner {

/// Where progress is written.
struct ProgressOutput {
  std::function<void(std::string_view)> write;
  std::function<int()> width;  ///< columns of the terminal; empty where it is none
  bool color = false;

  /// A stream of the process; colour on a terminal unless NO_COLOR is set or TERM is dumb.
  static ProgressOutput of(std::FILE* stream);
};

/// On a terminal one line, redrawn in place and fitted to its width:
///
///   [12/20] #7 batch_size=8 · #6: 861 images/s p99 46 ms · 2:05 · ETA 1:10 · 1 retry
///
/// completed and infeasible of planned runs, the last run started, what the last one that completed
/// has measured as far as there is room, time so far, time left, and what went wrong. Elsewhere a
/// line for each run that ended, and one a
/// minute while none does. Failures get a line of their own on both: the reason, where the output
/// is, and whether the run is tried again.
class ProgressPrinter : public ProgressSink {
 public:
  ProgressPrinter(const study::Study& study, ProgressOutput output);
  ~ProgressPrinter() override;

  void started(const Progress& progress, const study::PlannedRun& run, int attempt) override;
  void ended(const Progress& progress, const study::PlannedRun& run, const study::RunRecord& record,
             const std::filesystem::path& attempt_directory, bool again) override;
  void note(const std::string& text) override;
  double tick(const Progress& progress, double now_s) override;

  /// Takes the status line away, before others write there.
  void clear();

 private:
  bool on_terminal() const { return output_.width != nullptr; }
  std::string status_line(const Progress& progress, double now_s) const;
  void line(const std::string& text, bool alarming);

  const study::Study& study_;
  ProgressOutput output_;
  std::string current_;                ///< the last run started, "#7 batch_size=8"
  int last_ = 0;                       ///< the last run that completed
  std::vector<std::string> measured_;  ///< by it, a text a response
  double drawn_s_ = 0;                 ///< when tick last wrote
  bool changed_ = true;                ///< since then
  bool line_shown_ = false;
};

/// A run as people know it: "#7 executors_per_gpu=2 batch_size=8".
std::string run_text(const study::Study& study, const study::PlannedRun& run);

/// How a run ended, in one line: "[12/20] #7 batch_size=8 completed in 12.3 s: 861 images/s".
std::string ended_text(const study::Study& study, const RunCounts& counts,
                       const study::PlannedRun& run, const study::RunRecord& record);

/// A duration as people read it: 0:07, 2:05, 3:04:05.
std::string clock_text(double seconds);

/// The status line's parts around `middle`, which is shortened where the whole would not fit into
/// `width` columns.
std::string fitted(const std::string& front, const std::string& middle, const std::string& back,
                   int width);

}  // namespace doetune::runner
