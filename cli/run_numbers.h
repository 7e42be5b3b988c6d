// Lists on the command line.
#pragma once

#include <string>
#include <vector>

namespace doetune::cli {

/// "0,1" as its parts; an empty text has none.
std::vector<std::string> split_list(const std::string& text);

/// "3,7-9" as 3, 7, 8, 9; an empty text has none. Throws UsageError, naming the option, for
/// anything else, and for a number outside 1 .. last.
std::vector<int> parse_run_numbers(const char* option, const std::string& text, int last);

}  // namespace doetune::cli
