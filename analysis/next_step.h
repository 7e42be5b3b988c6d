// Recommends the next step of a study, if possible as a command.
#pragma once

#include <optional>
#include <string>

#include "analysis/confirmation.h"
#include "analysis/verdict.h"

namespace doetune::analysis {

struct NextStep {
  std::string command;  ///< "doetune run DIR"; empty if the user must act
  std::string reason;   ///< purpose of the step
};

NextStep next_step(const Analysis& analysis, Status status,
                   const std::optional<Confirmation>& confirmation);

}  // namespace doetune::analysis
