// What a regular fraction confounds, in words.
#pragma once

#include <string>
#include <vector>

#include "doe/classical/regular_fraction.h"
#include "doe/factor.h"

namespace doetune::doe {

/// "a*b*c", as study files write it.
std::string effect_name(const Effect& effect, const std::vector<Factor>& factors);

/// The fraction that generators like "d = a*b*c" or "e = -a*b" define; the factors without one
/// are the basic factors. Throws DesignError for a text that is no such equation, an unknown name
/// (with the nearest), a factor with two generators, a product of factors that are not basic, and
/// two factors with the same column.
RegularFraction parse_generators(const std::vector<std::string>& generators,
                                 const std::vector<Factor>& factors);

/// "e = a*b*c" for every factor that is not basic.
std::vector<std::string> generator_texts(const RegularFraction& fraction,
                                         const std::vector<Factor>& factors);

/// Every two main effects or two-factor interactions that share a column, as equations of the
/// effects' columns: "a = b*c = -d*e"; those with main effects first.
std::vector<std::string> alias_sets(const RegularFraction& fraction,
                                    const std::vector<Factor>& factors);

/// The notes of a fractional factorial: size, resolution and word lengths, generators, aliases.
/// Long lists end in how many more there are.
std::vector<std::string> fraction_notes(const RegularFraction& fraction,
                                        const std::vector<Factor>& factors);

/// What is confounded with blocks: the shortest product for each block column, and every two-factor
/// interaction among them.
std::string block_note(const RegularFraction& fraction, const std::vector<ColumnBits>& columns,
                       const std::vector<Factor>& factors);

}  // namespace doetune::doe
