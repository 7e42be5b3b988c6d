// Measured responses in what a program wrote.
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
  /// Responses that the program left to the runner's telemetry, each with what is wrong if that has
  /// none either.
  std::map<std::string, std::string> quantities;
  Measured measured;  ///< how well and when
};

ReadResponses read_responses(const study::Study& study, const AttemptOutput& output);

}  // namespace doetune::runner
