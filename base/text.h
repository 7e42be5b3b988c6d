// UTF-8 text: validation, character counts and shortening.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace doetune {

/// Length in bytes of the UTF-8 character at `at`, or 0 if there is no valid one (overlong forms
/// and surrogates are invalid). Source: The Unicode Standard, table 3-7.
std::size_t utf8_length(std::string_view text, std::size_t at = 0);

/// The UTF-8 bytes of a code point.
std::string utf8(char32_t point);

/// Number of characters in UTF-8 text.
std::size_t character_count(std::string_view text);

/// The text, or if it has more than `max_characters` (>= 1), its first max_characters - 1
/// characters and an ellipsis.
std::string shortened(std::string_view text, std::size_t max_characters);

/// Whether the text is valid UTF-8 without control characters other than tabs and line ends; C1
/// controls (U+0080 to U+009F) count as control characters.
bool is_plain_text(std::string_view text);

/// The number, from 1, of the first line that is not plain text; empty if there is none.
std::optional<int> first_line_not_text(std::string_view text);

}  // namespace doetune
