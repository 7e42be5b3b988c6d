#include "runner/loop/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "runner/processes/run_error.h"

namespace doetune::runner {
namespace {

using study::RunStatus;

constexpr double kForever_s = std::numeric_limits<double>::infinity();
constexpr double kMaxBackoff_s = 3600;

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

/// Whether two runs have the same settings; of hard-to-change factors alone if there are any and
/// the others do not matter.
bool is_same(const std::vector<doe::Factor>& factors, const study::PlannedRun& a,
             const study::PlannedRun& b, bool hard_to_change_only) {
  const bool any_hard = std::any_of(factors.begin(), factors.end(),
                                    [](const auto& factor) { return factor.hard_to_change; });
  if (!hard_to_change_only || !any_hard) return a.settings == b.settings;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (factors[i].hard_to_change && a.settings[i] != b.settings[i]) return false;
  }
  return true;
}

}  // namespace

std::optional<int> infeasible_like(const std::vector<doe::Factor>& factors, const study::Plan& plan,
                                   const std::map<int, study::RunRecord>& final_records,
                                   const study::PlannedRun& run) {
  for (const study::PlannedRun& other : plan.runs) {
    if (run.validates() && !other.validates()) continue;  // it is to be tried once more
    const auto record = final_records.find(other.run);
    if (record == final_records.end() || record->second.status != RunStatus::kInfeasible) continue;
    if (record->second.same_as) continue;
    if (is_same(factors, other, run, record->second.in_set_up)) return other.run;
  }
  return std::nullopt;
}

Schedule::Schedule(const study::Plan& plan, const std::map<int, study::RunRecord>& final_records,
                   const Selection& selection)
    : plan_(plan), retries_(selection.retries), retry_first_(selection.retry_first) {
  check_only(plan, selection.only);
  const std::set<int> only(selection.only.begin(), selection.only.end());
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    const int run = plan.runs[i].run;
    const auto record = final_records.find(run);
    const bool open =
        record == final_records.end() || (!study::is_decided(record->second.status) &&
                                          selection.again.count(record->second.status) > 0);
    if (open && (only.empty() || only.count(run) > 0)) queue_.push_back({i, -kForever_s});
  }
}

std::optional<std::size_t> Schedule::peek(double now_s, const Admits& admits) const {
  if (retry_first_ && !queue_.empty() && queue_.front().due_s > now_s) return std::nullopt;
  const auto due = std::find_if(queue_.begin(), queue_.end(), [&](const Waiting& waiting) {
    return waiting.due_s <= now_s && admits(waiting.index);
  });
  return due == queue_.end() ? std::nullopt : std::optional(due->index);
}

std::optional<std::size_t> Schedule::first(const Admits& admits) const {
  return peek(kForever_s, admits);
}

std::vector<std::size_t> Schedule::indices() const {
  std::vector<std::size_t> indices;
  for (const Waiting& waiting : queue_) indices.push_back(waiting.index);
  return indices;
}

std::optional<std::size_t> Schedule::next(double now_s) {
  const auto index = peek(now_s);
  if (index) take(*index);
  return index;
}

double Schedule::due_s() const {
  if (retry_first_ && !queue_.empty()) return queue_.front().due_s;  // the others wait for it
  double first_s = kForever_s;
  for (const Waiting& waiting : queue_) first_s = std::min(first_s, waiting.due_s);
  return first_s;
}

void Schedule::take(std::size_t index) {
  const auto found = std::find_if(queue_.begin(), queue_.end(),
                                  [&](const Waiting& waiting) { return waiting.index == index; });
  if (found != queue_.end()) queue_.erase(found);
}

bool Schedule::ended(std::size_t index, RunStatus status, double now_s) {
  int& count = status == RunStatus::kLost ? losses_[index] : failures_[index];
  if (count++ >= max_retries(status)) return false;
  const double wait_s = std::min(retries_.backoff_s * std::exp2(count - 1), kMaxBackoff_s);
  queue_again({index, wait_s > 0 ? now_s + wait_s : -kForever_s});
  return true;
}

int Schedule::max_retries(RunStatus status) const {
  switch (status) {
    case RunStatus::kFailed:
      return retries_.failed;
    case RunStatus::kTimedOut:
      return retries_.timed_out;
    case RunStatus::kLost:
      return retries_.lost;
    default:
      return 0;
  }
}

void Schedule::queue_again(Waiting waiting) {
  if (retry_first_) {
    queue_.push_front(waiting);
    return;
  }
  const int block = plan_.runs[waiting.index].block;
  const auto later_block = std::find_if(queue_.begin(), queue_.end(), [&](const Waiting& other) {
    return plan_.runs[other.index].block != block;
  });
  queue_.insert(later_block, waiting);
}

}  // namespace doetune::runner
