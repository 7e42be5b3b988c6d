// Progress of a study and its remaining time, independent of printing.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "study/plan.h"
#include "study/run_record.h"

namespace doetune::runner {

/// Number of planned runs by status of their final record; runs without one are `remaining`.
struct RunCounts {
  int planned = 0;
  int completed = 0;
  int infeasible = 0;
  int ended_early = 0;
  int failed = 0;
  int timed_out = 0;
  int cancelled = 0;
  int lost = 0;
  int remaining = 0;  ///< without a final record

  /// The count for a status; `remaining` for none.
  int& of(std::optional<study::RunStatus> status);

  int decided() const { return completed + infeasible + ended_early; }  ///< not to be made again
  int unsuccessful() const { return failed + timed_out + cancelled + lost; }
};

RunCounts count_runs(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records);

/// Counts and times of a study in progress.
class Progress {
 public:
  /// `expected_s` is the user's estimate of the duration of a run, used until one has completed.
  Progress(int jobs, std::optional<double> expected_s, double now_s);

  void started(int run, double now_s);

  /// A server was ready after this time.
  void set_up(double seconds);
  void set_servers_left(std::size_t servers) { servers_left_ = servers; }

  /// `before` is the run's status before this attempt.
  void ended(const study::RunRecord& record, std::optional<study::RunStatus> before);
  void retried() { ++retries_; }
  void set_waiting(std::size_t runs) { waiting_ = runs; }
  void set_counts(const RunCounts& counts) { counts_ = counts; }

  const RunCounts& counts() const { return counts_; }
  int retries() const { return retries_; }  ///< number of retries so far
  std::size_t under_way() const { return running_.size(); }
  double elapsed_s(double now_s) const { return now_s - began_s_; }

  /// Remaining time, if each waiting or running run takes the mean duration of those that ended,
  /// and each server to be set up the mean of those set up; empty if unknown.
  std::optional<double> time_left_s(double now_s) const;

 private:
  int jobs_;
  std::optional<double> expected_s_;
  double began_s_;
  std::size_t waiting_ = 0;
  std::map<int, double> running_;  ///< start time by run
  int ended_ = 0;
  int retries_ = 0;
  double ended_total_s_ = 0;
  std::size_t servers_left_ = 0;
  int set_up_ = 0;
  double set_up_total_s_ = 0;
  RunCounts counts_;
};

/// Receives every event of a study; must not throw.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;

  virtual void started(const Progress& progress, const study::PlannedRun& run, int attempt) = 0;

  /// A server is set up for the whole plot of this run.
  virtual void setting_up(const study::PlannedRun& run) = 0;

  /// `again`: the run will be retried.
  virtual void ended(const Progress& progress, const study::PlannedRun& run,
                     const study::RunRecord& record, const std::filesystem::path& attempt_directory,
                     bool again) = 0;

  /// A message to the user: a damaged line of the journal, the effect of Ctrl-C.
  virtual void note(const std::string& text) = 0;

  /// Called periodically. Returns the number of seconds until the next call.
  virtual double tick(const Progress& progress, double now_s) = 0;
};

}  // namespace doetune::runner
