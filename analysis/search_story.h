// How a sequential search went, as data for the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "study/directory/search_state.h"

namespace doetune::analysis {

/// Consecutive runs of a search: its start, what it proposed, or what confirms.
struct SearchPhase {
  enum class Kind { kStart, kProposed, kConfirmation };
  Kind kind = Kind::kStart;
  int first = 0, last = 0;  ///< run numbers
  int completed = 0, infeasible = 0, ended_early = 0, other = 0;
  std::optional<int> best;  ///< the best run so far, after the phase
};

struct SearchStory {
  std::vector<SearchPhase> phases;
  /// By run, from 1: the best_measured_run up to it; empty before one meets all limits. Runs that
  /// validate do not take part.
  std::vector<std::optional<int>> best_so_far;
  std::string end;  ///< why it ended, as a clause; empty while it goes on
};

/// Empty unless runs were proposed by a search and a response has a goal.
std::optional<SearchStory> search_story(const Analysis& analysis);

/// The state of the search in a study directory; empty without one, or where it cannot be read:
/// runs are reported whatever has become of it.
std::optional<study::SearchState> recorded_search(const study::StudyDirectory& directory);

}  // namespace doetune::analysis
