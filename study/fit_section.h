// The part of a study file that says how surfaces are fitted.
#pragma once

#include <filesystem>
#include <vector>

#include "doe/factor.h"
#include "study/study.h"
#include "study/yaml.h"

namespace doetune::study {

/// What a node `fit:` says, and where it is silent or missing `otherwise`. Throws StudyError for a
/// law without its factor, or a factor that cannot be one.
FitSettings read_fit(const YAML::Node& node, const FitSettings& otherwise,
                     const std::vector<doe::Factor>& factors, const std::filesystem::path& file);

}  // namespace doetune::study
