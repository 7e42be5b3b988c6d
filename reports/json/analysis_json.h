// fit.json and optimum.json: an analysis as JSON documents (docs/reference.md).
#pragma once

#include <string>

#include "analysis/confirmation.h"
#include "base/json_format_fwd.h"

namespace doetune::reports {

/// Formats for analyses of a study; the schema does not depend on the study.
json::Format<analysis::Analysis> fit_format(const study::Study& study = {});
json::Format<analysis::Analysis> optimum_format(const study::Study& study = {});

json::Format<analysis::Confirmation> confirmation_format();

/// The documents as text.
std::string fit_json(const analysis::Analysis& analysis);
std::string optimum_json(const analysis::Analysis& analysis);

}  // namespace doetune::reports
