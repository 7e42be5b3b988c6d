#include "runner/loop/failure_policy.h"

#include <fmt/format.h>

namespace doetune::runner {
namespace {

using study::RunRecord;
using study::RunStatus;

constexpr std::size_t kFirstRuns = 3;  ///< so many that fail alike stop a plan

}  // namespace

std::string FailurePolicy::after(const RunRecord& record, bool again, bool any_worked) {
  if (gave_up_) return "";
  std::string why;
  if (on_failure_ == study::OnFailure::kStop && !again) why = after_failure(record);
  if (on_failure_ == study::OnFailure::kFirstThree && !any_worked) {
    why = after_first_failures(record);
  }
  gave_up_ = !why.empty();
  return why;
}

std::string FailurePolicy::after_failure(const RunRecord& record) {
  const bool failed = record.status == RunStatus::kFailed ||
                      record.status == RunStatus::kTimedOut || record.status == RunStatus::kLost;
  if (!failed) return "";
  return fmt::format("stopping: run {} {}, and the study sets on_failure: stop", record.run,
                     study::run_status_name(record.status));
}

/// If the first runs fail alike, the others would, too.
std::string FailurePolicy::after_first_failures(const RunRecord& record) {
  if (record.status == RunStatus::kCancelled) return "";
  if (record.status == RunStatus::kLost) return "";  // says nothing about the run
  failed_alike_ = failed_alike_ && record.status == RunStatus::kFailed &&
                  (first_failed_.empty() ||
                   (record.exit_code == first_exit_code_ && record.reason == first_reason_));
  first_exit_code_ = record.exit_code;
  first_reason_ = record.reason;
  first_failed_.insert(record.run);
  if (!failed_alike_ || first_failed_.size() < kFirstRuns) return "";
  return fmt::format(
      "stopping: the first {} runs failed in the same way ({}), and the others probably would too; "
      "to run them anyway, set run: {{on_failure: continue}} in {}",
      kFirstRuns, record.reason, study_file_.string());
}

}  // namespace doetune::runner
