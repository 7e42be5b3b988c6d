// The valid name nearest to a misspelt one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune {

/// Edit distance with insertions, deletions, substitutions and transpositions of adjacent letters,
/// each of cost 1; case is ignored.
/// Source: Damerau (1964), "A technique for computer detection and correction of spelling errors".
int edit_distance(std::string_view a, std::string_view b);

/// The first valid name at the minimum edit distance, if that is at most a third of the longer
/// name's length (1 in short names). Empty for a name of more than 64 characters, since names are
/// untrusted input.
std::optional<std::string> nearest_name(std::string_view name,
                                        const std::vector<std::string>& valid);

/// "; did you mean 'x'?" for the nearest valid name, to append to a message; empty if none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& valid);

/// The same, but if none is near "; expected one of a, b, c", cut after about four lines.
std::string did_you_mean_or_list(std::string_view name, const std::vector<std::string>& valid);

}  // namespace doetune
