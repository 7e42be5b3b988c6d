// Imports runs made elsewhere as a study directory with a complete journal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "study/directory/directory.h"
#include "study/tables/run_table.h"

namespace doetune::study {

/// Takes factors and responses from the columns of a CSV table, one run per row, in file order. The
/// rows become the plan (design type `table`) and the completed runs of the journal, all of them or
/// none; a row of results.csv without a result becomes a pending run, its confirmation and baseline
/// runs remain such, and settings may be outside the range of a numeric factor. Throws StudyError
/// naming line and column, or DirectoryError.
StudyDirectory import_runs(const Study& study, const std::filesystem::path& data,
                           const std::filesystem::path& path, bool force);

struct ImportedRuns {
  StudyDirectory directory;
  std::vector<std::string> warnings;  ///< what was left out, and why
};

/// The same for runs that were read before. Of runs that a tool reports, those with mistakes are
/// left out, with a warning (read_measured_runs). Throws StudyError or DirectoryError.
ImportedRuns import_table(const Study& study, const RunTable& table,
                          const std::filesystem::path& path, bool force);

struct ImportedResults {
  int recorded = 0;  ///< number of runs
  std::vector<std::string> warnings;
};

/// Records the results of planned runs that another tool made (an exported plan): the run is the
/// number after "run-" in the path of its results; a failed server's path names all of its runs,
/// "runs-3-4", and those without a result of their own have failed. As tell_run, but a run with a
/// mistake is left out, with a warning. Throws StudyError if no result names a run, or
/// DirectoryError.
ImportedResults import_planned(const StudyDirectory& directory, const RunTable& table);

/// A sentence for each factor that has runs outside its range.
std::vector<std::string> range_cautions(const StudyDirectory& directory);

}  // namespace doetune::study
