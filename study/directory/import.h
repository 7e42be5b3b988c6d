// Imports runs made elsewhere as a study directory with a complete journal.
#pragma once

#include <filesystem>

#include "study/directory/directory.h"

namespace doetune::study {

/// Takes factors and responses from the columns of a CSV table, one run per row, in file order. The
/// rows become the plan (design type `table`) and the completed runs of the journal, all of them or
/// none; a row of results.csv without a result becomes a pending run. Throws StudyError naming line
/// and column, or DirectoryError.
StudyDirectory import_runs(const Study& study, const std::filesystem::path& data,
                           const std::filesystem::path& path, bool force);

}  // namespace doetune::study
