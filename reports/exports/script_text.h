// Text for generated R and Python scripts. Names and words are untrusted, so they occur only in
// literals and comments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doetune::reports {

/// A string literal that R and Python parse as the same text: printable ASCII unchanged, all else
/// as \uXXXX or \UXXXXXXXX; NUL, which R strings cannot hold, and invalid UTF-8 as U+FFFD.
std::string script_literal(std::string_view text);

/// A number that both languages parse exactly; `missing` if it is not finite.
std::string script_number(double x, std::string_view missing);

/// A comment of whole lines "# ..."; characters that might end a line are replaced by U+FFFD.
std::string script_comment(std::string_view text);

/// "OPENitem, item, ...CLOSE", or with another separator, broken into lines of at most 100
/// characters if the items permit; continuation lines are indented.
std::string script_list(std::string_view open, const std::vector<std::string>& items,
                        std::string_view close, std::size_t indent,
                        std::string_view separator = ",");

}  // namespace doetune::reports
