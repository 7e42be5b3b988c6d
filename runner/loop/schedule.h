// Decides which run is next; starts no processes and reads no clock.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "study/plan.h"
#include "study/run_record.h"
#include "study/run_settings.h"

namespace doetune::runner {

/// Which runs to execute.
struct Selection {
  std::vector<int> only;  ///< run numbers; empty: all of the plan
  std::set<study::RunStatus> again{study::RunStatus::kFailed, study::RunStatus::kTimedOut,
                                   study::RunStatus::kCancelled, study::RunStatus::kLost};
  study::Retries retries = {};
  bool retry_first = false;  ///< before the other runs, which may then never be started
};

/// The executed run that was infeasible at the settings of `run`, or whose server was at its
/// hard-to-change settings; empty if there is none. Of a validation run only other ones count:
/// whether its configuration can run is what they test.
std::optional<int> infeasible_like(const std::vector<doe::Factor>& factors, const study::Plan& plan,
                                   const std::map<int, study::RunRecord>& final_records,
                                   const study::PlannedRun& run);

/// The pending runs, in run order. Decided runs (study::is_decided) are excluded; runs that failed
/// in an earlier call are included, with all their retries, if the selection contains their status.
class Schedule {
 public:
  /// Throws RunError if `only` contains a run that is not in the plan.
  Schedule(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records,
           const Selection& selection);

  /// Decides by the index in the plan.
  using Admits = std::function<bool(std::size_t)>;

  /// Index in the plan of the next run that is due, of those admitted. A failed run waits for its
  /// backoff; the runs after it do not.
  std::optional<std::size_t> peek(
      double now_s, const Admits& admits = [](std::size_t) { return true; }) const;

  /// The next of the waiting runs that are admitted, due or not.
  std::optional<std::size_t> first(const Admits& admits) const;

  /// Removes and returns the next run that is due.
  std::optional<std::size_t> next(double now_s);

  /// Time when the first waiting run is due; infinite if none waits.
  double due_s() const;

  /// Removes a run that is already in progress; it may be retried.
  void take(std::size_t index);

  /// Reports the end of a run that was taken. Returns whether it is retried, by default after the
  /// other runs of its block: as long as its failures, of any kind, do not exceed the retries for
  /// this status. Losses are counted separately, since they say nothing about the run.
  bool ended(std::size_t index, study::RunStatus status, double now_s);

  std::size_t waiting() const { return queue_.size(); }
  std::vector<std::size_t> indices() const;  ///< of the waiting runs

 private:
  struct Waiting {
    std::size_t index;
    double due_s;
  };

  void queue_again(Waiting waiting);
  int max_retries(study::RunStatus status) const;

  const study::Plan& plan_;
  std::deque<Waiting> queue_;
  study::Retries retries_;
  bool retry_first_;
  std::map<std::size_t, int> failures_;  ///< by run, except losses
  std::map<std::size_t, int> losses_;
};

}  // namespace doetune::runner
