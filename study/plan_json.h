// plan.json: how the run sheet was made, and what the design is worth.
#pragma once

#include <string>
#include <vector>

#include "base/json_format_fwd.h"
#include "study/directory.h"

namespace doetune::study {

/// The version of the plan's files that this doetune writes; it reads all up to it.
inline constexpr int kPlanFormat = 1;

/// `sheets` are the hashes of the run sheets that the document vouches for, the present one first:
/// those of plan.csv now, and while it is being replaced, before.
json::Format<StudyDirectory> plan_format(const std::vector<std::string>& sheets = {});

/// The document as text.
std::string plan_json(const StudyDirectory& directory, const std::vector<std::string>& sheets);

}  // namespace doetune::study
