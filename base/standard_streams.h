// Standard input, output and error of this process.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace doetune {

/// Opens descriptors 0, 1 and 2 on /dev/null if they are closed, so that no file opened later gets
/// one of them and receives printed output. Reads then return end of file and messages are dropped,
/// but writes to standard output still fail, so that output is not lost silently. Call it first in
/// main.
void reserve_standard_descriptors();

/// Writes to standard error and ignores failures: an unreadable message is no reason to abort the
/// work it reports.
void write_message(std::string_view text);

/// write_message with fmt::format arguments.
template <class... Values>
void print_message(fmt::format_string<Values...> format, Values&&... values) {
  write_message(fmt::format(format, std::forward<Values>(values)...));
}

/// Flushes standard output. Throws std::system_error if it could not be written.
void flush_output();

}  // namespace doetune
