#include "runner/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "runner/run_error.h"

namespace doetune::runner {
namespace {

using study::RunStatus;

void check_only(const study::Plan& plan, const std::vector<int>& only) {
  for (const int run : only) {
    const bool planned = std::any_of(plan.runs.begin(), plan.runs.end(),
                                     [&](const auto& entry) { return entry.run == run; });
    if (!planned) {
      throw RunError(
          fmt::format("there is no run {}; the plan has runs 1 to {}", run, plan.runs.size()));
    }
  }
}

}  // namespace

Schedule::Schedule(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records,
                   const Selection& selection)
    : plan_(plan), retries_(selection.retries) {
  check_only(plan, selection.only);
  const std::set<int> only(selection.only.begin(), selection.only.end());
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const int run = plan.runs[i].run;
    const auto record = final_records.find(run);
    const bool open =
        record == final_records.end() || (record->second.status != RunStatus::kCompleted &&
                                          record->second.status != RunStatus::kInfeasible &&
                                          selection.again.count(record->second.status) > 0);
    if (open && (only.empty() || only.count(run) > 0)) queue_.push_back(i);
  }
}

std::optional<std::size_t> Schedule::next() {
  if (queue_.empty()) return std::nullopt;
  const std::size_t index = queue_.front();
  queue_.pop_front();
  return index;
}

void Schedule::take(std::size_t index) {
  queue_.erase(std::remove(queue_.begin(), queue_.end(), index), queue_.end());
}

bool Schedule::ended(std::size_t index, RunStatus status) {
  const bool own_failure = status == RunStatus::kFailed || status == RunStatus::kTimedOut;
  const bool again = (own_failure && failures_[index]++ < retries_) ||
                     (status == RunStatus::kLost && losses_[index]++ < kMostLost);
  if (again) queue_again(index);
  return again;
}

void Schedule::queue_again(std::size_t index) {
  const int block = plan_.runs[index].block;
  const auto later_block = std::find_if(queue_.begin(), queue_.end(), [&](std::size_t other) {
    return plan_.runs[other].block != block;
  });
  queue_.insert(later_block, index);
}

}  // namespace doetune::runner
