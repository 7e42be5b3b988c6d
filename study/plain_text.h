// Whether a file is text that people can read and a terminal can be shown.
#pragma once

#include <optional>
#include <string_view>

namespace doetune::study {

/// Valid UTF-8 without control characters, but for tabs and ends of lines.
bool is_plain_text(std::string_view text);

/// The first line, from 1, that is no such text; empty where all are.
std::optional<int> line_of_no_text(std::string_view text);

/// "this is no text (UTF-8 without control characters)", what is said of it.
inline constexpr std::string_view kNoText = "this is no text (UTF-8 without control characters)";

}  // namespace doetune::study
