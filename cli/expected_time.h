// What runs cost, before they are made.
#pragma once

#include <map>
#include <optional>

#include "study/directory.h"
#include "study/run_record.h"

namespace doetune::cli {

/// Seconds that one run takes: the mean of the completed ones, else the study's `expected`.
std::optional<double> seconds_per_run(const study::Study& study,
                                      const std::map<int, study::RunRecord>& records);

/// Seconds until `runs` of them are done, so many at once.
std::optional<double> seconds_for(const study::Study& study,
                                  const std::map<int, study::RunRecord>& records, int runs);

}  // namespace doetune::cli
