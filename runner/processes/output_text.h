// Program output as part of a message.
#pragma once

#include <string>
#include <string_view>

namespace doetune::runner {

/// The last line that says something: neither a blank one nor a rule of dashes, as mpirun draws.
std::string_view last_line(std::string_view text);

/// Short, and without what a terminal would obey: control characters, those of C1 (U+0080 to
/// U+009F) too, and bytes that are no UTF-8, for a terminal of 8 bits obeys 0x9b as well.
std::string printable(std::string_view line);

}  // namespace doetune::runner
