// The parts of the study file that describe factors; for study.cpp only.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"

namespace doetune::study {

/// One entry of `factors`, its structure already checked. Throws StudyError for impossible ranges.
doe::Factor read_factor(const std::string& name, const YAML::Node& node,
                        const std::filesystem::path& file);

/// One entry of `forbidden`: conditions such as fp32 or ">= 7", by factor.
doe::Forbidden read_forbidden(const YAML::Node& node, const std::vector<doe::Factor>& factors,
                              const std::filesystem::path& file);

}  // namespace doetune::study
