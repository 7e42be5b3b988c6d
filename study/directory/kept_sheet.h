// The run sheet as stored in the journal, which alone suffices to continue a study.
#pragma once

#include <string>
#include <vector>

namespace doetune::study {

struct StudyDirectory;

/// Everything needed to write study.yaml, plan.csv and plan.json.
struct KeptSheet {
  std::string hash;   ///< of plan_csv and of what a run executes; that of the first sheet is
                      ///< StudyDirectory::plan_hash
  std::string plan;   ///< StudyDirectory::plan_hash
  std::string study;  ///< name of the study
  std::string working_directory;
  std::vector<std::string> notes;
  std::string study_yaml;
  std::string plan_csv;

  bool operator==(const KeptSheet&) const = default;
};

/// The current run sheet of a directory.
KeptSheet sheet_of(const StudyDirectory& directory);

}  // namespace doetune::study
