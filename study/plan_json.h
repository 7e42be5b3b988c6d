// plan.json: how the run sheet was made, and what the design is worth.
#pragma once

#include <string>

#include "study/directory.h"

namespace doetune::study {

/// The version of the plan's files that this doetune writes; it reads all up to it.
inline constexpr int kPlanFormat = 1;

/// The document as JSON text.
std::string plan_json(const StudyDirectory& directory);

}  // namespace doetune::study
