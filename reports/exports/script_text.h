// Text of programs written for R and Python. Names and words come from everywhere, so they reach a
// program as literals and comments alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doetune::reports {

/// A string literal that R and Python read as the same text: printable ASCII as it is, all else as
/// \uXXXX or \UXXXXXXXX; NUL, which R's strings cannot hold, and bytes that are no UTF-8 as U+FFFD.
std::string script_literal(std::string_view text);

/// A number that both read back exactly; `missing` for one that is not finite.
std::string script_number(double x, std::string_view missing);

/// A comment of whole lines, "# ..." each; characters that might end one are U+FFFD.
std::string script_comment(std::string_view text);

/// "OPENitem, item, ...CLOSE", or with another separator, broken into lines of at most 100
/// characters where items allow, the second and later ones indented.
std::string script_list(std::string_view open, const std::vector<std::string>& items,
                        std::string_view close, std::size_t indent,
                        std::string_view separator = ",");

}  // namespace doetune::reports
