// Whether what is measured changes while a study is under way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/plan.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::runner {

/// How a response changes from one centre run to the next, by a straight line through them in run
/// order: what changes beside the settings (a GPU that warms up, a cache that fills) changes them
/// too, and nothing else does.
struct Drift {
  std::string response;
  int runs = 0;           ///< completed centre runs
  double change = 0;      ///< from the first of them to the last, over their mean
  double half_width = 0;  ///< of its 95 % interval (Student's t, runs - 2 degrees of freedom)
  bool is_clear = false;  ///< zero is not in the interval
};

/// For each measured response with three or more completed centre runs at one setting. Source:
/// NIST/SEMATECH e-Handbook, 5.3.3.7 (centre points as checks on stability).
std::vector<Drift> drifts(const study::Study& study, const study::Plan& plan,
                          const std::map<int, study::RunRecord>& final_records);

/// "throughput drifts: +4.1 % (±1.2 %) over 6 centre runs".
std::string drift_text(const Drift& drift);

}  // namespace doetune::runner
