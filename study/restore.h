// The files of a study written again from its journal.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace doetune::study {

struct Restored {
  std::vector<std::string> files;  ///< that were written; none where all was well
  std::vector<std::string> moved;  ///< what was in their place, as NAME.replaced
  int runs = 0;                    ///< of the sheet
};

/// Writes study.yaml, plan.csv and plan.json as the journal keeps them, those that are missing,
/// damaged, older than the journal or not of its plan. A study.yaml that fits the sheet stays: what
/// may be edited may have been. Throws DirectoryError where the journal keeps no sheet, or the
/// directory is in use.
Restored restore_directory(const std::filesystem::path& path);

/// "; `doetune restore DIR` writes ...", ready to end a message; empty where the journal keeps no
/// sheet.
std::string restore_advice(const std::filesystem::path& path);

}  // namespace doetune::study
