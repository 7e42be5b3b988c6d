// How far a study is, and how long it will take: counting apart from printing.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "study/plan.h"
#include "study/run_record.h"

namespace doetune::runner {

/// Every planned run is in one of these: those with a final record by its status, and the rest.
struct RunCounts {
  int planned = 0;
  int completed = 0;
  int infeasible = 0;
  int failed = 0;
  int timed_out = 0;
  int cancelled = 0;
  int lost = 0;
  int remaining = 0;  ///< without a record

  /// The number of a status; of none: remaining.
  int& of(std::optional<study::RunStatus> status);

  int unsuccessful() const { return failed + timed_out + cancelled + lost; }
};

RunCounts count_runs(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records);

/// The counts and times of a study under way.
class Progress {
 public:
  /// `expected_s` is the user's estimate of one run, used until one has completed.
  Progress(int jobs, std::optional<double> expected_s, double now_s);

  void started(int run, double now_s);

  /// `before`: the run's status until now.
  void ended(const study::RunRecord& record, std::optional<study::RunStatus> before);
  void retried() { ++retries_; }
  void set_waiting(std::size_t runs) { waiting_ = runs; }
  void set_counts(const RunCounts& counts) { counts_ = counts; }

  const RunCounts& counts() const { return counts_; }
  int retries() const { return retries_; }  ///< attempts that are made once more, so far
  std::size_t under_way() const { return running_.size(); }
  double elapsed_s(double now_s) const { return now_s - began_s_; }

  /// Time until the waiting runs and those under way are done, if each takes the mean of those that
  /// ended; empty where nothing is known.
  std::optional<double> time_left_s(double now_s) const;

 private:
  int jobs_;
  std::optional<double> expected_s_;
  double began_s_;
  std::size_t waiting_ = 0;
  std::map<int, double> running_;  ///< run, when it began
  int ended_ = 0;
  int retries_ = 0;
  double ended_total_s_ = 0;
  RunCounts counts_;
};

/// Hears of every step of a study; nothing in it may throw.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;

  virtual void started(const Progress& progress, const study::PlannedRun& run, int attempt) = 0;

  /// `again`: the run will be tried once more.
  virtual void ended(const Progress& progress, const study::PlannedRun& run,
                     const study::RunRecord& record, const std::filesystem::path& attempt_directory,
                     bool again) = 0;

  /// Something the user should read: a damaged line of the journal, what Ctrl-C will do.
  virtual void note(const std::string& text) = 0;

  /// Called as time goes by. Returns in how many seconds it wants to be called next.
  virtual double tick(const Progress& progress, double now_s) = 0;
};

}  // namespace doetune::runner
