// Shell completion, from the tables of commands and options, existing files, and the names of the
// study.
#pragma once

#include <string>
#include <vector>

namespace doetune::cli {

struct Candidate {
  std::string word;  ///< the whole word; one that ends in '/', '=', ':' or ',' is incomplete
  std::string description;
};

/// Candidates for the last word, of which the user has typed the beginning. `words` follow
/// "doetune"; the last one may be empty. If something cannot be read there are no candidates.
std::vector<Candidate> completions(const std::vector<std::string>& words);

}  // namespace doetune::cli
