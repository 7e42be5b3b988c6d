// What to say where constraints leave nothing.
#pragma once

#include "surfaces/optimum.h"
#include "surfaces/optimum/settings_search.h"

namespace doetune::surfaces {

/// Throws std::invalid_argument that names the constraint, or forbidden combination, that excludes
/// the most settings.
[[noreturn]] void refuse_empty_region(const OptimumRequest& request, const SettingsSearch& search);

}  // namespace doetune::surfaces
