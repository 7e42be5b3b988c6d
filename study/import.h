// Runs made elsewhere become a study directory with a complete journal.
#pragma once

#include <filesystem>

#include "study/directory.h"

namespace doetune::study {

/// Takes factors and responses from the columns of a CSV table, one run a row, in the order of the
/// file. The rows become the plan (design type `table`) and completed runs of the journal, all of
/// them or none; a row of results.csv without a result becomes a run that is still to be made.
/// Throws StudyError naming line and column, or DirectoryError.
StudyDirectory import_runs(const Study& study, const std::filesystem::path& data,
                           const std::filesystem::path& path, bool force);

}  // namespace doetune::study
