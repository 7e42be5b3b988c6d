// Prepares program output for use in messages.
#pragma once

#include <string>
#include <string_view>

namespace doetune::runner {

/// The last line with content: neither blank nor a rule of dashes such as mpirun prints.
std::string_view last_line(std::string_view text);

/// A short text without anything that a terminal interprets: control characters, including C1
/// (U+0080 to U+009F), and bytes that are not UTF-8, since an 8-bit terminal interprets 0x9b as
/// well.
std::string printable(std::string_view line);

}  // namespace doetune::runner
