// JSON formats shared by several documents.
#pragma once

#include <vector>

#include "analysis/verdict.h"
#include "base/json_format.h"
#include "doe/factor.h"
#include "surfaces/surface.h"

namespace doetune::reports {

/// Array [low, high].
json::Format<surfaces::Interval> interval_format();

/// Object {"factor": setting}; levels by name.
json::Format<std::vector<double>> settings_format(const std::vector<doe::Factor>& factors);

/// A surface smaller than the study's model, and why.
json::Format<analysis::Fallback> fallback_format();

/// The verdict without the next step.
json::Format<analysis::Verdict> verdict_format();

}  // namespace doetune::reports
