// Reads the measured responses from a program's output.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attempts/measured.h"
#include "runner/attempts/outcome.h"
#include "study/study.h"

namespace doetune::runner {

struct ReadResponses {
  std::map<std::string, double> values;
  std::map<std::string, std::string> notes;
  std::vector<std::string> problems;  ///< one for each measured response without a finite value
  /// Responses left to the runner's telemetry, each with the error to report if that lacks it too.
  std::map<std::string, std::string> quantities;
  Measured measured;  ///< quality of the measurements
};

ReadResponses read_responses(const study::Study& study, const AttemptOutput& output);

}  // namespace doetune::runner
