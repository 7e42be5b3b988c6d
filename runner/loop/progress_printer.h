// Prints progress: a status line on a terminal, plain lines otherwise.
#pragma once

#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/loop/progress.h"
#include "study/study.h"

namespace doetune::runner {

/// Output stream of the progress.
struct ProgressOutput {
  std::function<void(std::string_view)> write;
  std::function<int()> width;  ///< columns of the terminal; empty if it is not a terminal
  bool color = false;

  /// A stream of the process; with colour on a terminal unless NO_COLOR is set or TERM is dumb.
  static ProgressOutput of(std::FILE* stream);
};

/// On a terminal a single line, redrawn and fitted to the width:
///
///   [12/20] #7 batch_size=8 · #6: 861 images/s p99 46 ms · 2:05 · ETA 1:10 · 1 retry
///
/// the number of completed and infeasible runs out of those planned, the last run started,
/// responses of the last completed run as far as they fit, elapsed time, remaining time, and
/// problems. Elsewhere one line for each run that ended, and one line a minute while none does.
/// Failures get a separate line in both cases: the reason, the path of the output, and whether the
/// run is retried.
class ProgressPrinter : public ProgressSink {
 public:
  ProgressPrinter(const study::Study& study, ProgressOutput output);
  ~ProgressPrinter() override;

  void started(const Progress& progress, const study::PlannedRun& run, int attempt) override;
  void setting_up(const study::PlannedRun& run) override;
  void ended(const Progress& progress, const study::PlannedRun& run, const study::RunRecord& record,
             const std::filesystem::path& attempt_directory, bool again) override;
  void note(const std::string& text) override;
  double tick(const Progress& progress, double now_s) override;

  /// Removes the status line before other output.
  void clear();

 private:
  bool on_terminal() const { return output_.width != nullptr; }
  std::string status_line(const Progress& progress, double now_s) const;
  void line(const std::string& text, bool alarming);

  const study::Study& study_;
  ProgressOutput output_;
  std::string current_;                ///< the last run started, "#7 batch_size=8", or server
  int last_ = 0;                       ///< the last run that completed
  std::vector<std::string> measured_;  ///< its responses, one text each
  double drawn_s_ = 0;                 ///< time of the last output by tick
  bool changed_ = true;                ///< since drawn_s_
  bool line_shown_ = false;
};

/// A run as shown to users: "#7 executors_per_gpu=2 batch_size=8".
std::string run_text(const study::Study& study, const study::PlannedRun& run);

/// "setting up whole plot 3: instances=4".
std::string server_text(const study::Study& study, const study::PlannedRun& run);

/// How a run ended, in one line: "[12/20] #7 batch_size=8 completed in 12.3 s: 861 images/s".
std::string ended_text(const study::Study& study, const RunCounts& counts,
                       const study::PlannedRun& run, const study::RunRecord& record);

/// A duration as shown to users: 0:07, 2:05, 3:04:05.
std::string clock_text(double seconds);

/// The status line, with `middle` shortened if the whole would exceed `width` columns.
std::string fitted(const std::string& front, const std::string& middle, const std::string& back,
                   int width);

}  // namespace doetune::runner
