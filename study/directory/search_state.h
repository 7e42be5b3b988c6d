// How far the search in a study directory is, and what it may cost.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace doetune::study {

/// The limits that were given last, which a command without them keeps to, and the end.
struct SearchState {
  int budget = 0;         ///< total number of runs; 0: the default
  double tolerance = -1;  ///< smallest expected gain that is worth a run; negative: the default
  double seconds = std::numeric_limits<double>::infinity();      ///< of run time
  double gpu_seconds = std::numeric_limits<double>::infinity();  ///< of GPU time
  double joules = std::numeric_limits<double>::infinity();       ///< of energy
  bool front = false;                                            ///< the Pareto front is wanted
  int small_gains = 0;   ///< proposals in a row with a small expected gain
  bool goes_on = false;  ///< other limits have been given since its last proposal
  std::string end = {};  ///< why it ended, as a clause; empty while it goes on

  bool operator==(const SearchState&) const = default;
};

/// search.json in a study directory; the default values if there is none. Members that are missing
/// or no sensible value have their defaults as well. Throws DirectoryError if it is no JSON object.
SearchState read_search_state(const std::filesystem::path& directory);

/// Replaces it, unless it is the same; durable when it returns. Throws DirectoryError, also if the
/// directory is in use.
void write_search_state(const std::filesystem::path& directory, const SearchState& state);

}  // namespace doetune::study
