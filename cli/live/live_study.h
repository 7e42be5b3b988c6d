// A study as it is seen while it runs: its state as JSON, and its report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// What the page of a running study shows above the report.
struct LiveState {
  std::string name;
  std::string phase;  ///< "running", then how it ended: "finished", "interrupted", "stopped"
  int done = 0;       ///< runs that are not made again
  int planned = 0;    ///< the number of runs to make; of a search, at most
  int infeasible = 0;
  int unsuccessful = 0;
  std::string time_left;                 ///< "2 min 10 s"; empty if unknown
  std::vector<std::string> in_progress;  ///< "#7 batch_size=8"
  std::vector<std::string> ends;         ///< how runs ended that did not complete, most runs first
  std::string last;                      ///< the run that ended last
  std::string best;                      ///< the best run, as of the report
  bool best_meets_limits = true;
  std::string report;   ///< tells the report from earlier ones; empty: there is none yet
  std::string problem;  ///< why the state or the report could not be updated; empty if they could
  std::string file;     ///< the report on disk, once it is written
};

std::string json_of(const LiveState& state);

/// Reads a study directory again and again, as another process may be changing it.
class LiveStudy {
 public:
  /// `budget`: the number of runs that a search makes at most.
  LiveStudy(std::filesystem::path directory, std::optional<int> budget);

  /// Whether files have changed since the last look().
  bool has_changed() const;

  /// Reads the runs. Throws study::DirectoryError or study::StudyError.
  void look();

  /// Whether there are runs that the last report does not have.
  bool has_news() const { return runs_.first > 0 && runs_ != reported_; }

  /// Fits the runs seen by look(), and returns the page of the report.
  std::string report();

  /// Writes what `doetune report` writes. Throws study::DirectoryError.
  void write_report();

  LiveState& state() { return state_; }

 private:
  /// Size and times of the files that change while runs are made.
  using Signature = std::vector<std::int64_t>;
  Signature signature() const;
  void describe_best(const analysis::Analysis& analysis);

  std::filesystem::path path_;
  std::optional<int> budget_;
  Signature seen_;
  std::optional<study::StudyDirectory> directory_;
  /// Numbers of records and of planned runs: neither is ever reduced.
  std::pair<std::size_t, std::size_t> runs_, reported_;
  LiveState state_;
};

}  // namespace doetune::cli
