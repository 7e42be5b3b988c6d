#include "runner/loop/progress.h"

#include <algorithm>

namespace doetune::runner {

int& RunCounts::of(std::optional<study::RunStatus> status) {
  if (!status) return remaining;
  switch (*status) {
    case study::RunStatus::kCompleted:
      return completed;
    case study::RunStatus::kInfeasible:
      return infeasible;
    case study::RunStatus::kEndedEarly:
      return ended_early;
    case study::RunStatus::kFailed:
      return failed;
    case study::RunStatus::kTimedOut:
      return timed_out;
    case study::RunStatus::kCancelled:
      return cancelled;
    case study::RunStatus::kLost:
      break;
  }
  return lost;
}

RunCounts count_runs(const study::Plan& plan,
                     const std::map<int, study::RunRecord>& final_records) {
  RunCounts counts;
  counts.planned = static_cast<int>(plan.runs.size());
  for (const study::PlannedRun& run : plan.runs) {
    const auto record = final_records.find(run.run);
    ++(record == final_records.end() ? counts.remaining : counts.of(record->second.status));
  }
  return counts;
}

Progress::Progress(int jobs, std::optional<double> expected_s, double now_s)
    : jobs_(jobs), expected_s_(expected_s), began_s_(now_s) {}

void Progress::started(int run, double now_s) { running_[run] = now_s; }

void Progress::set_up(double seconds) {
  ++set_up_;
  set_up_total_s_ += seconds;
}

void Progress::ended(const study::RunRecord& record, std::optional<study::RunStatus> before) {
  running_.erase(record.run);
  --counts_.of(before);
  ++counts_.of(record.status);
  if (record.status == study::RunStatus::kCancelled || record.status == study::RunStatus::kLost ||
      record.same_as || record.in_set_up) {
    return;  // not representative of the duration of other runs
  }
  ++ended_;
  ended_total_s_ += record.duration_s;
}

std::optional<double> Progress::time_left_s(double now_s) const {
  if (ended_ == 0 && !expected_s_) return std::nullopt;
  const double each_s = ended_ > 0 ? ended_total_s_ / ended_ : *expected_s_;
  double total_s = each_s * static_cast<double>(waiting_);
  if (set_up_ > 0) total_s += set_up_total_s_ / set_up_ * static_cast<double>(servers_left_);
  double longest_s = 0;
  for (const auto& [run, started_s] : running_) {
    const double left_s = std::max(0.0, each_s - (now_s - started_s));
    total_s += left_s;
    longest_s = std::max(longest_s, left_s);
  }
  return std::max(total_s / jobs_, longest_s);
}

}  // namespace doetune::runner
