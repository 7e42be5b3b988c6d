// What to use, by the runs so far.
#pragma once

#include <optional>

#include "surfaces/optimum.h"
#include "tuning/problem.h"

namespace doetune::tuning {

/// The optimum by Gaussian processes of all objectives, as the analysis of a study finds it: of the
/// settings that have been run, those predicted to be best of those that complete, and meet the
/// limits, with the probabilities asked for. What the processes expect where nothing was run is too
/// much where neighbours are not alike (bench/tuning). Empty if the runs do not support a process
/// for each objective.
std::optional<surfaces::Optimum> answer(const Problem& problem,
                                        const std::vector<Observation>& so_far);

}  // namespace doetune::tuning
