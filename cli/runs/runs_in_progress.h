// The attempts that have begun and are not recorded yet, read from the study directory.
#pragma once

#include <vector>

#include "study/directory/directory.h"

namespace doetune::cli {

struct RunInProgress {
  int run = 0;
  int attempt = 1;
};

/// In ascending order of their runs. Throws study::DirectoryError for a journal that cannot be
/// read.
std::vector<RunInProgress> runs_in_progress(const study::StudyDirectory& directory);

}  // namespace doetune::cli
