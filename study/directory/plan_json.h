// plan.json: how the run sheet was generated, and the evaluation of the design.
#pragma once

#include <string>
#include <vector>

#include "base/json_format_fwd.h"
#include "study/directory/directory.h"

namespace doetune::study {

/// The format version of the plan files that this doetune writes; it reads this and older ones.
inline constexpr int kPlanFormat = 1;

/// `sheets` are the hashes of the run sheets that are valid with this document, the current one
/// first; a second one only while plan.csv is being replaced.
json::Format<StudyDirectory> plan_format(const std::vector<std::string>& sheets = {});

/// The document of plan_format as text.
std::string plan_json(const StudyDirectory& directory, const std::vector<std::string>& sheets);

}  // namespace doetune::study
