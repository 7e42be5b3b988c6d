// Formats that several JSON documents share.
#pragma once

#include <vector>

#include "analysis/verdict.h"
#include "base/json_format.h"
#include "doe/factor.h"
#include "surfaces/surface.h"

namespace doetune::reports {

/// [low, high].
json::Format<surfaces::Interval> interval_format();

/// {"factor": setting}; levels by name.
json::Format<std::vector<double>> settings_format(const std::vector<doe::Factor>& factors);

/// The answer, but for the next step.
json::Format<analysis::Verdict> verdict_format();

}  // namespace doetune::reports
