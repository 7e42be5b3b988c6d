// Parses lists on the command line.
#pragma once

#include <string>
#include <vector>

namespace doetune::cli {

/// Splits "0,1" at commas; an empty text has no parts.
std::vector<std::string> split_list(const std::string& text);

/// Parses "3,7-9" as 3, 7, 8, 9; an empty text gives no numbers. Throws UsageError naming the
/// option for invalid text and for numbers outside 1 .. last.
std::vector<int> parse_run_numbers(const char* option, const std::string& text, int last);

}  // namespace doetune::cli
