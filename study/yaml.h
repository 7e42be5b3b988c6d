// YAML text checked against a schema and read, with errors that point at the place.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doe/response.h"
#include "study/error.h"
#include "study/schema.h"

namespace doetune::study {

/// Parses text and checks its structure against the schema: unknown, duplicate and missing keys,
/// types, ranges. What comes back can be read without further checks of structure.
/// Throws StudyError for the first mistake in the order of the file.
YAML::Node load_checked_yaml(const std::string& text, const std::filesystem::path& file,
                             const Schema& schema);

/// Throws StudyError "file:line:column: message" for the place of a node.
[[noreturn]] void fail_at(const std::filesystem::path& file, const YAML::Node& node,
                          const std::string& message);

/// Seconds of "10 min", "5 s", "250 ms", "2 h" or a bare number; empty where it is none of these.
std::optional<double> parse_duration(const std::string& text);

/// A finite number, the whole text; empty where it is none.
std::optional<double> parse_number(const std::string& text);

// What the keys of a node hold, once its structure is checked.

/// Each is empty, or `otherwise`, where the node or its key is missing.
std::string text_at(const YAML::Node& node, const char* key, const std::string& otherwise = "");
std::optional<double> number_at(const YAML::Node& node, const char* key);
std::optional<int> whole_at(const YAML::Node& node, const char* key);
std::optional<double> seconds_at(const YAML::Node& node, const char* key);

template <typename Choice>
Choice choice_at(const YAML::Node& node, const char* key, Choice otherwise) {
  return doe::choice_of<Choice>(text_at(node, key)).value_or(otherwise);
}

/// The items of a list, or none.
std::vector<std::string> texts(const YAML::Node& list);

}  // namespace doetune::study
