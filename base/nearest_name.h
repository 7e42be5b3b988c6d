// The nearest valid name to one that is misspelt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune {

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours, each 1;
/// letters that differ in case only cost nothing.
/// Source: Damerau (1964), "A technique for computer detection and correction of spelling errors".
int edit_distance(std::string_view a, std::string_view b);

/// The first of the valid names at the least edit distance, where that is at most a third of the
/// longer one's length (one letter in short ones); none for a name of more than 64 characters,
/// which is untrusted input.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& valid);

/// "; did you mean 'x'?" for the nearest valid name, ready to end a message; empty where none is
/// near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& valid);

/// The same, but where none is near "; expected one of a, b, c": about four lines of them at most.
std::string did_you_mean_or_list(std::string_view name, const std::vector<std::string>& valid);

}  // namespace doetune
