// Restores the files of a study from its journal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace doetune::study {

struct Restored {
  std::vector<std::string> files;  ///< that were written; empty if all were valid
  std::vector<std::string> moved;  ///< previous content, saved as NAME.replaced
  int runs = 0;                    ///< number of runs in the sheet
};

/// Writes study.yaml, plan.csv and plan.json from the journal where they are missing, damaged,
/// older than the journal or of another plan. A study.yaml that is consistent with the sheet is
/// kept, since it may have been edited. Throws DirectoryError if the journal holds no sheet or the
/// directory is in use.
Restored restore_directory(const std::filesystem::path& path);

/// "; `doetune restore DIR` writes ...", to append to a message; empty if the journal holds no
/// sheet.
std::string restore_advice(const std::filesystem::path& path);

}  // namespace doetune::study
