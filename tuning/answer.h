// What to use, by the runs so far.
#pragma once

#include <optional>

#include "surfaces/optimum.h"
#include "tuning/problem.h"

namespace doetune::tuning {

enum class Among { kRuns, kAll };

/// The optimum by Gaussian processes of all objectives, as the analysis of a study finds it: those
/// settings predicted to be best of those that complete, and meet the limits, with the
/// probabilities asked for. After a search, of the settings that have been run, unless none of them
/// is predicted to meet the limits: what the processes expect of others is too much where
/// neighbours are not alike (bench/tuning). After a design, of all. Empty if the runs do not
/// support a process for each objective.
std::optional<surfaces::Optimum> answer(const Problem& problem,
                                        const std::vector<Observation>& so_far,
                                        Among among = Among::kRuns);

}  // namespace doetune::tuning
