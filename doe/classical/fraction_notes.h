// Text descriptions of what a regular fraction confounds.
#pragma once

#include <string>
#include <vector>

#include "doe/classical/regular_fraction.h"
#include "doe/factor.h"

namespace doetune::doe {

/// "a*b*c", as in study files.
std::string effect_name(const Effect& effect, const std::vector<Factor>& factors);

/// The fraction defined by generators like "d = a*b*c" or "e = -a*b"; factors without a generator
/// are the basic factors. Throws DesignError for malformed text, an unknown name (suggesting the
/// nearest), a factor with two generators, a product of non-basic factors, and two factors with the
/// same column.
RegularFraction parse_generators(const std::vector<std::string>& generators,
                                 const std::vector<Factor>& factors);

/// "e = a*b*c" for every non-basic factor.
std::vector<std::string> generator_texts(const RegularFraction& fraction,
                                         const std::vector<Factor>& factors);

/// All groups of main effects and two-factor interactions that share a column, as equations "a =
/// b*c = -d*e"; groups with main effects first.
std::vector<std::string> alias_sets(const RegularFraction& fraction,
                                    const std::vector<Factor>& factors);

/// Notes on a fractional factorial: size, resolution and word lengths, generators, aliases. Long
/// lists are cut with the number of omitted entries.
std::vector<std::string> fraction_notes(const RegularFraction& fraction,
                                        const std::vector<Factor>& factors);

/// Describes what is confounded with blocks: the shortest product for each block column, and every
/// two-factor interaction among them.
std::string block_note(const RegularFraction& fraction, const std::vector<ColumnBits>& columns,
                       const std::vector<Factor>& factors);

}  // namespace doetune::doe
