// The part of a study file that says which design is made.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "study/study.h"

namespace doetune::study {

/// What a node `design:` says, its structure already checked. Throws StudyError for an option that
/// the type does not take, a number of starts that is none, and a table without its file.
DesignSettings read_design(const YAML::Node& node, const std::filesystem::path& file);

}  // namespace doetune::study
