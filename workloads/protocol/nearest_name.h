// The valid name that one which is misspelt may stand for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doetune::workloads {

/// "; did you mean 'x'?" for the nearest of the valid names, ready to end a message; "" where it is
/// further than a third of the longer one's length (one letter in short ones). Insertions,
/// deletions, substitutions and swaps of neighbours count one each, other case nothing.
/// Source: Damerau (1964), "A technique for computer detection and correction of spelling errors".
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& valid);

}  // namespace doetune::workloads
