// User commands after each attempt and at the end: `run.after_run`, `run.after_all`.
#pragma once

#include <string>
#include <vector>

#include "runner/attempts/command.h"
#include "runner/attempts/request.h"
#include "runner/loop/progress.h"
#include "study/directory/directory.h"

namespace doetune::runner {

/// Runs the hooks of a study sequentially; no run is started meanwhile, so that they do not disturb
/// measurements. Failure of a hook, or exceeding kHookLimit_s, is reported and has no other effect.
///
/// Placeholders of their arguments: {study}, {directory} (of the study); after a run also {run},
/// {attempt}, {status}, {attempt_directory}; at the end also {completed}, {infeasible},
/// {unsuccessful}, {remaining}. The same are in the environment as DOETUNE_STUDY and so on.
class Hooks {
 public:
  static constexpr double kHookLimit_s = 60;

  /// Throws RunError for a missing program or an unknown placeholder.
  explicit Hooks(const study::StudyDirectory& directory);

  /// An error message for the user; empty if there was no error or no hook.
  std::string after_run(const study::RunRecord& record,
                        const std::filesystem::path& attempt_directory) const;
  std::string after_all(const RunCounts& counts) const;

 private:
  Command command(const std::vector<std::string>& arguments, const std::string& key,
                  const Placeholders& values) const;
  std::string run(const std::vector<std::string>& arguments, const std::string& key,
                  const Placeholders& values) const;
  Placeholders run_values(const study::RunRecord& record,
                          const std::filesystem::path& attempt_directory) const;
  Placeholders end_values(const RunCounts& counts) const;

  const study::StudyDirectory& directory_;
};

}  // namespace doetune::runner
