// Reasons to be careful with the reported optimum.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/confirmation.h"

namespace doetune::analysis {

/// Most serious first: runs, confirmation, surfaces, location of the optimum.
std::vector<std::string> caveats(const Analysis& analysis,
                                 const std::optional<Confirmation>& confirmation);

}  // namespace doetune::analysis
