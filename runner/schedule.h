// Which run comes next: no processes, no clock.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "study/plan.h"
#include "study/run_record.h"

namespace doetune::runner {

/// What is to be run.
struct Selection {
  std::vector<int> only;  ///< run numbers; empty: all of the plan
  std::set<study::RunStatus> again{study::RunStatus::kFailed, study::RunStatus::kTimedOut,
                                   study::RunStatus::kCancelled, study::RunStatus::kLost};
  int retries = 1;  ///< further attempts after failed or timed_out
};

/// The runs still to do, in run order. A completed or infeasible run is never among them; one that
/// failed before is, with all its attempts anew, where the selection asks for its status.
class Schedule {
 public:
  /// Throws RunError where `only` names a run that is not in the plan.
  Schedule(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records,
           const Selection& selection);

  /// Takes the next run: its index in the plan.
  std::optional<std::size_t> next();

  /// Takes a run that is under way already: it is not started, but may be tried again.
  void take(std::size_t index);

  /// Tells how a run that was taken ended. True: it is tried again, after the other runs of its
  /// block. A lost attempt says nothing about the run: it is tried again kMostLost times.
  bool ended(std::size_t index, study::RunStatus status);

  std::size_t waiting() const { return queue_.size(); }

  static constexpr int kMostLost = 3;

 private:
  void queue_again(std::size_t index);

  const study::Plan& plan_;
  std::deque<std::size_t> queue_;
  int retries_;
  std::map<std::size_t, int> failures_;
  std::map<std::size_t, int> losses_;
};

}  // namespace doetune::runner
