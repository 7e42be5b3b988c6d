// The study file from which a study directory was planned, which users may edit instead of the
// directory's study.yaml.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "study/directory/directory.h"

namespace doetune::study {

/// If the study file beside the directory (fccd.yaml for fccd/) was edited after the directory's
/// study.yaml, and only in its responses, model, fit or confirm, copies these sections into
/// `directory.study` and sets `taken_up`. Writes nothing. Does nothing if the file measures other
/// responses or is not a valid study file.
void take_up_original(StudyDirectory& directory);

/// Whether a study file was edited after the directory's study.yaml.
bool is_newer(const std::filesystem::path& file, const std::filesystem::path& directory);

/// The keys of a study file whose values are not those of the directory's study.yaml, apart from
/// what a search chose where the file leaves it open. Throws StudyError, naming the place, if one
/// of them cannot be changed after planning, or other responses are measured.
std::vector<std::string> edited_keys(const StudyDirectory& directory, const Study& edited);

/// Replaces the directory's study.yaml by `edited` and what a search chose, and opens it again.
/// Throws what edited_keys does, and DirectoryInUse.
void edit_study(StudyDirectory& directory, const Study& edited);

/// A sentence if the study file beside the directory is not what was planned or edited since in the
/// directory's study.yaml: what was taken up, or else what differs, and what to do about it. Empty
/// if the file is the same or not known.
std::optional<std::string> edited_original(const StudyDirectory& directory);

/// The same sentence if the file was edited last, and in what determines the runs.
std::optional<std::string> changed_runs(const StudyDirectory& directory);

}  // namespace doetune::study
