// The study file from which a study directory was planned, which users may edit by mistake.
#pragma once

#include <optional>
#include <string>

#include "study/directory/directory.h"

namespace doetune::study {

/// A warning if the study file beside the directory (fccd.yaml for fccd/) is not what was planned
/// or edited since in the directory's study.yaml, which alone is read: what differs, and how to
/// take it up. Empty if the file is the same or not known.
std::optional<std::string> edited_original(const StudyDirectory& directory);

}  // namespace doetune::study
