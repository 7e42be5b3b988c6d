// Attempts that earlier calls of `doetune run` left without a record.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "study/directory/directory.h"
#include "study/directory/journal.h"

namespace doetune::runner {

struct EarlierAttempt {
  std::size_t index;  ///< of its run in the plan
  int number;
};

struct EarlierAttempts {
  std::map<int, int> last;  ///< highest attempt number used, by run: whoever made the directory
  std::vector<EarlierAttempt> unrecorded;  ///< in the order of the plan and of their numbers
};

/// Attempts before the last recorded one of a run are never considered, even if their journal lines
/// were damaged.
EarlierAttempts earlier_attempts(const study::StudyDirectory& directory,
                                 const study::JournalContent& journal);

}  // namespace doetune::runner
