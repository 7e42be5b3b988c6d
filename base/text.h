// UTF-8 text: its characters, how many there are, and whether a terminal can be shown it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace doetune {

/// Bytes of the UTF-8 character that begins at `at`, or 0 where none does (overlong forms and
/// surrogates are none). Source: The Unicode Standard, table 3-7.
std::size_t utf8_length(std::string_view text, std::size_t at = 0);

/// The UTF-8 bytes of a code point.
std::string utf8(char32_t point);

/// Characters of UTF-8 text.
std::size_t character_count(std::string_view text);

/// The text, or where it has more than `max_characters` (at least 1) as many less one and an
/// ellipsis.
std::string shortened(std::string_view text, std::size_t max_characters);

/// Valid UTF-8 without control characters (those of C1, U+0080 to U+009F, are some too), but for
/// tabs and ends of lines.
bool is_plain_text(std::string_view text);

/// The first line, from 1, that is not plain text; empty where all are.
std::optional<int> first_line_not_text(std::string_view text);

}  // namespace doetune
