// JSON from programs that nobody vouches for.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace doetune::runner {

inline constexpr std::size_t kMaxJsonBytes = 16 << 20;

/// A JSON object of bounded size and depth. NaN and Infinity, which many programs print though JSON
/// has no word for them, are read as null, and so are numbers beyond the range of a double, such as
/// 1e400. Empty for any other text.
std::optional<nlohmann::json> parse_untrusted(std::string_view text);

/// The last JSON object of a program's output: from the beginning of a line to the end of that line
/// or to the end of the output.
std::optional<nlohmann::json> last_object(std::string_view output);

}  // namespace doetune::runner
