// Tests for drift of responses during a study, by replicated centre runs.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "study/plan.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::runner {

/// Change of a response over the centre runs, by a straight line in run order: as their settings
/// are equal, it is caused by something else (a GPU that warms up, a cache that fills).
struct Drift {
  std::string response;
  int runs = 0;             ///< number of completed centre runs
  double change = 0;        ///< from the first to the last
  double half_width = 0;    ///< of its 95 % interval (Student's t, runs - 2 degrees of freedom)
  bool is_relative = true;  ///< both relative to the mean; not where values have both signs, since
                            ///< a mean near 0 is no measure
  bool is_clear = false;    ///< the interval excludes zero
};

/// For each measured response with at least three completed centre runs at the same settings.
/// Source: NIST/SEMATECH e-Handbook, 5.3.3.7 (centre points as checks on stability).
std::vector<Drift> drifts(const study::Study& study, const study::Plan& plan,
                          const std::map<int, study::RunRecord>& final_records);

/// "throughput drifts: +4.1 % (±1.2 %) over 6 centre runs".
std::string drift_text(const Drift& drift);

/// Reports each drifting response once, at the first centre run that makes it clear.
class DriftReport {
 public:
  /// The drifts that have become clear with this run, which just ended.
  std::vector<std::string> after(const study::PlannedRun& run, const study::Study& study,
                                 const study::Plan& plan,
                                 const std::map<int, study::RunRecord>& final_records);

 private:
  std::set<std::string> reported_;
};

}  // namespace doetune::runner
