// The nearest valid name to one that is misspelt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace doetune::doe {

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours, each 1;
/// letters that differ in case only cost nothing.
/// Source: Damerau (1964), "A technique for computer detection and correction of spelling errors".
int edit_distance(std::string_view a, std::string_view b);

/// "; did you mean 'x'?" for the nearest valid name, or where none is near "; expected one of
/// a, b, c" (about four lines of them at most), ready to end a message.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& valid);

}  // namespace doetune::doe
