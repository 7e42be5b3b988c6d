// The user's own commands after each attempt and at the end: `run.after_run`, `run.after_all`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/attempts/command.h"
#include "runner/loop/progress.h"
#include "study/directory.h"

namespace doetune::runner {

/// Runs the hooks of a study, one after another: while one runs no new run begins, so that it
/// disturbs no measurement. One that fails, or takes longer than kHookLimit_s, is told and changes
/// nothing else.
///
/// Placeholders of their arguments: {study}, {directory} (of the study); after a run also {run},
/// {attempt}, {status}, {attempt_directory}; at the end also {completed}, {infeasible},
/// {unsuccessful}, {remaining}. The same are in the environment as DOETUNE_STUDY and so on.
class Hooks {
 public:
  static constexpr double kHookLimit_s = 60;

  /// Throws RunError for a missing program or an unknown placeholder.
  explicit Hooks(const study::StudyDirectory& directory);

  /// What went wrong, for the user; empty where nothing did or there is no hook.
  std::string after_run(const study::RunRecord& record,
                        const std::filesystem::path& attempt_directory) const;
  std::string after_all(const RunCounts& counts) const;

 private:
  using Values = std::map<std::string, std::string>;

  Command command(const std::vector<std::string>& arguments, const std::string& key,
                  const Values& values) const;
  std::string run(const std::vector<std::string>& arguments, const std::string& key,
                  const Values& values) const;
  Values run_values(const study::RunRecord& record,
                    const std::filesystem::path& attempt_directory) const;
  Values end_values(const RunCounts& counts) const;

  const study::StudyDirectory& directory_;
};

}  // namespace doetune::runner
