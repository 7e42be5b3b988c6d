// Readers for the sections of a study file whose structure has been checked (yaml.h).
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

/// Reads an entry of `factors`. Throws StudyError for impossible ranges.
doe::Factor read_factor(const std::string& name, const YAML::Node& node,
                        const std::filesystem::path& file);

/// Reads an entry of `factors` with `search: largest`. Throws StudyError for a factor that cannot
/// be searched, and for limits that are no comparisons with a number. Which responses limits may
/// name is checked in study.cpp.
LoadSearch read_load_search(const std::string& name, const YAML::Node& node,
                            const std::filesystem::path& file);

/// Reads an entry of `forbidden`: conditions such as fp32 or ">= 7", by factor.
doe::Forbidden read_forbidden(const YAML::Node& node, const std::vector<doe::Factor>& factors,
                              const std::filesystem::path& file);

/// Reads the node `design:`. Throws StudyError for an option that the design type does not have, an
/// invalid number of starts, and type `table` without a file.
DesignSettings read_design(const YAML::Node& node, const std::filesystem::path& file);

/// Reads the node `fit:`; missing keys are taken from `otherwise`. Throws StudyError for a
/// parametric model without its factor, and for a factor of the wrong kind.
FitSettings read_fit(const YAML::Node& node, const FitSettings& otherwise,
                     const std::vector<doe::Factor>& factors, const std::filesystem::path& file);

/// Reads the node of a response; `fit` is the default for its fit settings. Throws StudyError for
/// limits that contradict the goal or each other, and for an invalid pattern. Which names a formula
/// may use depends on the other responses and is checked in study.cpp.
Response read_response(const std::string& name, const YAML::Node& node, const FitSettings& fit,
                       const std::vector<doe::Factor>& factors, const std::filesystem::path& file);

/// Reads the node `run:`; missing keys keep their defaults. Throws StudyError for an invalid
/// fraction or size, a count that is neither a number nor "{factor}" with a numeric factor, and
/// limits that contradict each other.
RunSettings read_run(const YAML::Node& node, const std::vector<doe::Factor>& factors,
                     const std::filesystem::path& file);

/// The bytes of "8 GiB", "500 MB" or a bare number; empty if invalid.
std::optional<std::int64_t> parse_size(const std::string& text);

/// 0.01 for "1 %" or "0.01"; empty unless it is a fraction above 0 and below 1.
std::optional<double> parse_fraction(const std::string& text);

}  // namespace doetune::study
