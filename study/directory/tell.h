// Records runs that the user made, one at a time.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "study/directory/directory.h"
#include "study/directory/progress.h"
#include "study/run_record.h"

namespace doetune::study {

/// The outcome of a planned run, as its user reports it.
struct ToldRun {
  int run = 0;
  RunStatus status = RunStatus::kCompleted;  ///< or infeasible, failed, or ended early
  std::string reason;                        ///< why it did not complete
  std::map<std::string, double> responses;   ///< of a completed run: all that are measured
  std::map<std::string, Range> bounds = {};  ///< of a run ended early: see RunRecord
  bool corrects = false;  ///< replaces an outcome recorded by mistake; the journal keeps both
};

/// Appends a run to the journal and rewrites results.csv; the run is recorded when it returns. A
/// run that has failed may be told again. Returns false, and changes nothing, if the same was
/// recorded before.
///
/// Throws StudyError for a run that is not planned, a response that the study does not have (with
/// the most similar one) or that is missing, a value that is not finite or beyond the domain of the
/// response's transform, and a run that was recorded otherwise, unless it was told and is now
/// corrected; DirectoryInUse, and DirectoryError if the directory cannot be written.
bool tell_run(const StudyDirectory& directory, const ToldRun& told);

/// Keeps what a run that is under way reports at a step, as a program reports it by progress.jsonl.
/// The end of a run that was ended early before; then nothing is kept. Throws like tell_run.
std::optional<EarlyEnd> tell_step(const StudyDirectory& directory, int run,
                                  const ProgressPoint& latest);

}  // namespace doetune::study
