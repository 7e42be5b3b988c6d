// What to do next, as a command where there is one.
#pragma once

#include <optional>
#include <string>

#include "analysis/confirmation.h"
#include "analysis/verdict.h"

namespace doetune::analysis {

struct NextStep {
  std::string command;  ///< "doetune run DIR"; empty where the next step is the user's
  std::string reason;   ///< what it is for
};

NextStep next_step(const Analysis& analysis, Status status,
                   const std::optional<Confirmation>& confirmation);

}  // namespace doetune::analysis
