// The part of a study file that says how runs are executed.
#pragma once

#include <filesystem>
#include <vector>

#include "doe/factor.h"
#include "study/run_settings.h"
#include "study/yaml.h"

namespace doetune::study {

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
