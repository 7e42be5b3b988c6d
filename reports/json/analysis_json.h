// fit.json and optimum.json: an analysis as JSON documents (docs/reference.md).
#pragma once

#include <string>

#include "analysis/analysis.h"

namespace doetune::reports {

/// JSON text with schema_version.
std::string fit_json(const analysis::Analysis& analysis);
std::string optimum_json(const analysis::Analysis& analysis);

}  // namespace doetune::reports
