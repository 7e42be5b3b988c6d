// Settings in forms that can be copied and used.
#pragma once

#include <string>
#include <vector>

#include "study/study.h"

namespace doetune::analysis {

/// A line a factor, "batch: 8"; words are quoted.
std::string settings_as_yaml(const std::vector<doe::Factor>& factors,
                             const std::vector<double>& settings);

/// What starts one run by hand, for a POSIX shell in the folder of the study file: the study's
/// command with its placeholders filled, or the bundled workload's; places that only a run has,
/// such as {result}, stay as they are. Empty where the study has
/// neither, and where no word of its command holds a factor.
std::string settings_as_command(const study::Study& study, const std::vector<double>& settings);

}  // namespace doetune::analysis
