// Parses YAML, checks it against a schema and reports errors with line and column.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "doe/response.h"
#include "study/error.h"
#include "study/file/schema.h"

namespace doetune::study {

/// Parses text and checks its structure against the schema: unknown, duplicate and missing keys,
/// types, ranges. The result can be read without further checks of its structure. Throws StudyError
/// for the first error in file order.
YAML::Node load_checked_yaml(const std::string& text, const std::filesystem::path& file,
                             const Schema& schema);

/// Adds a key to a mapping, with its value in flow style; `why` is a comment, which a mapping in
/// braces has no place for.
void add_key(std::string& text, const std::string& key, const std::string& value,
             const std::string& why);

/// Throws StudyError "file:line:column: message" with the position of a node.
[[noreturn]] void fail_at(const std::filesystem::path& file, const YAML::Node& node,
                          const std::string& message);

/// Seconds for "10 min", "5 s", "250 ms", "2 h" or a bare number; empty if invalid.
std::optional<double> parse_duration(const std::string& text);

/// A finite number that is the whole text; empty otherwise.
std::optional<double> parse_number(const std::string& text);

/// Values of keys of a node whose structure has been checked. Empty, or `otherwise`, if the node or
/// the key is missing.
std::string text_at(const YAML::Node& node, const char* key, const std::string& otherwise = "");
std::optional<double> number_at(const YAML::Node& node, const char* key);
std::optional<int> whole_at(const YAML::Node& node, const char* key);
std::optional<double> seconds_at(const YAML::Node& node, const char* key);

template <typename Choice>
Choice choice_at(const YAML::Node& node, const char* key, Choice otherwise) {
  return doe::choice_of<Choice>(text_at(node, key)).value_or(otherwise);
}

/// The items of a list; empty if there is none.
std::vector<std::string> texts(const YAML::Node& list);

}  // namespace doetune::study
