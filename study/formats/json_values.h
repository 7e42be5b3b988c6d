// Values of JSON documents as cells of a table.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace doetune::study {

/// A number, a flag or a text as a cell, numbers with all their digits; empty for anything else.
std::string cell_of(const nlohmann::json& value);

/// The finite number of a key; empty if there is none.
std::optional<double> number_of(const nlohmann::json& object, const char* key);

/// The text of a key; empty if there is none.
std::string text_of_key(const nlohmann::json& object, const char* key);

/// Calls `visit` for each number, flag and text in an object: "phases.concurrency" is the key of
/// {"phases": [{"concurrency": 8}]}, since a list of one item does not count, and longer lists are
/// left out.
void for_each_value(
    const nlohmann::json& object,
    const std::function<void(const std::string& key, const std::string& cell)>& visit);

}  // namespace doetune::study
