// Which run comes next: no processes, and no clock of its own.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "study/plan.h"
#include "study/run_record.h"
#include "study/run_settings.h"

namespace doetune::runner {

/// What is to be run.
struct Selection {
  std::vector<int> only;  ///< run numbers; empty: all of the plan
  std::set<study::RunStatus> again{study::RunStatus::kFailed, study::RunStatus::kTimedOut,
                                   study::RunStatus::kCancelled, study::RunStatus::kLost};
  study::Retries retries = {};
  bool retry_first = false;  ///< before the other runs, which may not be made at all
};

/// The runs still to do, in run order. A completed or infeasible run is never among them; one that
/// failed before is, with all its attempts anew, where the selection asks for its status.
class Schedule {
 public:
  /// Throws RunError where `only` names a run that is not in the plan.
  Schedule(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records,
           const Selection& selection);

  /// The next run to start, its index in the plan, where one is due: a run that failed waits for
  /// its backoff, the runs after it don't.
  std::optional<std::size_t> peek(double now_s) const;

  /// Takes the next run that is due.
  std::optional<std::size_t> next(double now_s);

  /// When the first waiting run is due; infinite where none waits.
  double due_s() const;

  /// Takes a run that is under way already: it is not started, but may be tried again.
  void take(std::size_t index);

  /// Tells how a run that was taken ended. True: it is tried again, after the other runs of its
  /// block unless asked otherwise: while its failures, of whatever kind, are not more than the
  /// retries after such an end; losses say nothing of the run and are counted apart.
  bool ended(std::size_t index, study::RunStatus status, double now_s);

  std::size_t waiting() const { return queue_.size(); }

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
  std::map<std::size_t, int> failures_;  ///< of a run's own
  std::map<std::size_t, int> losses_;
};

}  // namespace doetune::runner
