// Error for a region that constraints leave empty.
#pragma once

#include "surfaces/optimum.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {

/// Throws std::invalid_argument naming the constraint, or forbidden combination, that excludes the
/// most settings.
[[noreturn]] void refuse_empty_region(const OptimumRequest& request, const SettingsSearch& search);

}  // namespace doetune::surfaces
