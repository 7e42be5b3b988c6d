// What may follow on a command line, for the shells: from the tables of commands and options, the
// files that are there, and the names of the study.
#pragma once

#include <string>
#include <vector>

namespace doetune::cli {

struct Candidate {
  std::string word;  ///< the whole word; one that ends in '/', '=', ':' or ',' goes on
  std::string description;
};

/// The words that may stand in place of the last one, of which the user has typed the beginning.
/// `words` follow "doetune"; the last may be empty. Whatever cannot be read has no candidates.
std::vector<Candidate> completions(const std::vector<std::string>& words);

}  // namespace doetune::cli
