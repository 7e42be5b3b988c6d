// Why to be careful with the answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/confirmation.h"

namespace doetune::analysis {

/// Gravest first: runs, confirmation, surfaces, the place of the optimum.
std::vector<std::string> caveats(const Analysis& analysis,
                                 const std::optional<Confirmation>& confirmation);

}  // namespace doetune::analysis
