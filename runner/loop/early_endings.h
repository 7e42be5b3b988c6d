// Ends runs early whose progress shows that they are clearly worse than others.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include "study/directory/progress.h"
#include "study/plan.h"

namespace doetune::runner {

/// What is recorded of a run if it is to be ended at this point of its progress; empty if it goes
/// on. Called on the thread of run_study.
using EndsEarly = std::function<std::optional<study::EarlyEnd>(const study::PlannedRun& run,
                                                               const study::ProgressPoint& latest)>;

/// Looks at the progress of runs that are under way, five times a second.
class EarlyEndings {
 public:
  explicit EarlyEndings(EndsEarly ends_early) : ends_early_(std::move(ends_early)) {}

  /// The time between two looks; infinite if there is nothing to look for.
  double pause_s() const;

  /// Whether runs are to be looked at now.
  bool is_due(double now_s);

  /// Whether the attempt is to be stopped, which its directory then says (write_early_end). True
  /// once.
  bool ends(const study::PlannedRun& run, const std::filesystem::path& attempt_directory);

 private:
  EndsEarly ends_early_;  ///< may be empty: every run goes on
  double looked_s_ = 0;
  std::set<std::filesystem::path> ended_;
};

}  // namespace doetune::runner
