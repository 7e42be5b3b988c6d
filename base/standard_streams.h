// Standard input, output and error of this process.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace doetune {

/// Takes up the descriptors 0, 1 and 2 where they are closed, so that no file opened later gets one
/// of them and with it what is printed. Reading then finds nothing and messages are dropped, but
/// writing to standard output still fails: an answer is not lost in silence. Call it first in main.
void reserve_standard_descriptors();

/// Writes to standard error as far as that is possible: a message that nobody can read is no reason
/// to give up the work that it is about.
void write_message(std::string_view text);

/// write_message of a text as fmt::format makes it.
template <class... Values>
void print_message(fmt::format_string<Values...> format, Values&&... values) {
  write_message(fmt::format(format, std::forward<Values>(values)...));
}

/// Passes on what was printed to standard output. Throws std::system_error where it could not be
/// written.
void flush_output();

}  // namespace doetune
