// What the keys of a node hold, once its structure is checked (yaml.h).
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>
#include <vector>

namespace doetune::study {

/// Each is empty, or `otherwise`, where the node or its key is missing.
std::string text_at(const YAML::Node& node, const char* key, const std::string& otherwise = "");
std::optional<double> number_at(const YAML::Node& node, const char* key);
std::optional<int> whole_at(const YAML::Node& node, const char* key);
std::optional<double> seconds_at(const YAML::Node& node, const char* key);

/// The items of a list, or none.
std::vector<std::string> texts(const YAML::Node& list);

}  // namespace doetune::study
