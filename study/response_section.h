// One entry of the part of a study file that says what is measured.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "study/study.h"

namespace doetune::study {

/// What the node of a response says, its structure already checked; `fit` where it does not say how
/// it is fitted. Throws StudyError for limits that contradict the goal or each other, and a pattern
/// that is none. What a formula may name depends on the other responses: study.cpp checks it.
Response read_response(const std::string& name, const YAML::Node& node, const FitSettings& fit,
                       const std::vector<doe::Factor>& factors, const std::filesystem::path& file);

}  // namespace doetune::study
