// The study file from which a study directory was planned, which users may edit instead of the
// directory's study.yaml.
#pragma once

#include <optional>
#include <string>

#include "study/directory/directory.h"

namespace doetune::study {

/// If the study file beside the directory (fccd.yaml for fccd/) was edited after the directory's
/// study.yaml, and only in its responses, model, fit or confirm, copies these sections into
/// `directory.study` and sets `taken_up`. Writes nothing. Does nothing if the file measures other
/// responses or is not a valid study file.
void take_up_original(StudyDirectory& directory);

/// A sentence if the study file beside the directory is not what was planned or edited since in the
/// directory's study.yaml: what was taken up, or else what differs, and what to do about it. Empty
/// if the file is the same or not known.
std::optional<std::string> edited_original(const StudyDirectory& directory);

/// The same sentence if the file was edited last, and in what determines the runs.
std::optional<std::string> changed_runs(const StudyDirectory& directory);

}  // namespace doetune::study
