// The sections of a study file whose structure is checked already (yaml.h).
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"
#include "study/study.h"

namespace doetune::study {

/// One entry of `factors`. Throws StudyError for impossible ranges.
doe::Factor read_factor(const std::string& name, const YAML::Node& node,
                        const std::filesystem::path& file);

/// One entry of `forbidden`: conditions such as fp32 or ">= 7", by factor.
doe::Forbidden read_forbidden(const YAML::Node& node, const std::vector<doe::Factor>& factors,
                              const std::filesystem::path& file);

/// What a node `design:` says. Throws StudyError for an option that the type does not take, a
/// number of starts that is none, and a table without its file.
DesignSettings read_design(const YAML::Node& node, const std::filesystem::path& file);

/// What a node `fit:` says, and where it is silent or missing `otherwise`. Throws StudyError for a
/// model without its factor, or a factor that cannot be one.
FitSettings read_fit(const YAML::Node& node, const FitSettings& otherwise,
                     const std::vector<doe::Factor>& factors, const std::filesystem::path& file);

/// What the node of a response says; `fit` where it does not say how it is fitted. Throws
/// StudyError for limits that contradict the goal or each other, and a pattern that is none. What a
/// formula may name depends on the other responses: study.cpp checks it.
Response read_response(const std::string& name, const YAML::Node& node, const FitSettings& fit,
                       const std::vector<doe::Factor>& factors, const std::filesystem::path& file);

/// What a node `run:` says; the defaults where it is silent or missing. Throws StudyError for a
/// share or a size that is none, a count that is neither a number nor "{factor}" of a numeric
/// factor, and for limits that contradict each other.
RunSettings read_run(const YAML::Node& node, const std::vector<doe::Factor>& factors,
                     const std::filesystem::path& file);

/// Bytes of "8 GiB", "500 MB" or a bare number; empty where it is none.
std::optional<std::int64_t> parse_size(const std::string& text);

/// 0.01 of "1 %" or "0.01"; empty where it is no share above 0 and below 1.
std::optional<double> parse_share(const std::string& text);

}  // namespace doetune::study
