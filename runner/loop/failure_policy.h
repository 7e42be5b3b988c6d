// Decides whether a study goes on after failures: run.on_failure.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "study/run_record.h"
#include "study/run_settings.h"

namespace doetune::runner {

class FailurePolicy {
 public:
  FailurePolicy(study::OnFailure on_failure, std::filesystem::path study_file)
      : on_failure_(on_failure), study_file_(std::move(study_file)) {}

  /// Notes the end of a run. `again`: it is retried; `any_worked`: a run of the plan, in any call,
  /// was completed or infeasible, so that its program works. Returns why no further run may be
  /// started, once; otherwise nothing.
  std::string after(const study::RunRecord& record, bool again, bool any_worked);

  /// Whether no further run may be started.
  bool gave_up() const { return gave_up_; }

 private:
  std::string after_failure(const study::RunRecord& record);
  std::string after_first_failures(const study::RunRecord& record);

  study::OnFailure on_failure_;
  std::filesystem::path study_file_;
  bool gave_up_ = false;
  bool failed_alike_ = true;  ///< the runs so far
  std::set<int> first_failed_;
  std::optional<int> first_exit_code_;
  std::string first_reason_;
};

}  // namespace doetune::runner
