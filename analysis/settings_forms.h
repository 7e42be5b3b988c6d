// Formats settings for reuse: as YAML and as a shell command.
#pragma once

#include <string>
#include <vector>

#include "study/study.h"

namespace doetune::analysis {

/// One line per factor, "batch: 8"; categorical levels are quoted.
std::string settings_as_yaml(const std::vector<doe::Factor>& factors,
                             const std::vector<double>& settings);

/// The command that starts one run by hand, for a POSIX shell in the directory of the study file:
/// the study's command with its placeholders filled, or that of the bundled workload, without what
/// the command of its server reads. {run} and {attempt} are 1, {seed} is that of the study;
/// placeholders that only an actual run can fill, such as {result}, are kept. Empty if the study
/// has neither, or if its command contains no factor.
std::string settings_as_command(const study::Study& study, const std::vector<double>& settings);

/// The command that starts the server of `run.set_up`, likewise; empty if it has no factor.
std::string settings_as_server_command(const study::Study& study,
                                       const std::vector<double>& settings);

}  // namespace doetune::analysis
