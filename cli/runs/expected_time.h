// Estimates the duration of runs.
#pragma once

#include <map>
#include <optional>

#include "study/directory/directory.h"
#include "study/run_record.h"

namespace doetune::cli {

/// Estimated seconds per run: the mean of the completed ones, or the study's `expected`.
std::optional<double> seconds_per_run(const study::Study& study,
                                      const std::map<int, study::RunRecord>& records);

/// Estimated seconds until `runs` runs are done, with the study's number of concurrent runs.
std::optional<double> seconds_for(const study::Study& study,
                                  const std::map<int, study::RunRecord>& records, int runs);

}  // namespace doetune::cli
