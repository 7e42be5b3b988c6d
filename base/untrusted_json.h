// Parses JSON from untrusted programs.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace doetune {

inline constexpr std::size_t kMaxJsonBytes = 16 << 20;

/// Parses a JSON object of bounded size and depth. NaN and Infinity, which are not JSON but common,
/// and numbers beyond the range of a double, such as 1e400, are read as null. Empty for any other
/// text.
std::optional<nlohmann::json> parse_untrusted(std::string_view text);

/// The last JSON object in a program's output: from the beginning of a line to the end of that line
/// or of the output.
std::optional<nlohmann::json> last_object(std::string_view output);

/// The finite numbers of an object's object `key`, by name; empty if there is none.
std::map<std::string, double> finite_numbers(const nlohmann::json& object, const char* key);

}  // namespace doetune
