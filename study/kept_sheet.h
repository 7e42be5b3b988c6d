// The run sheet as the journal keeps it, so that no other file is needed to go on.
#pragma once

#include <string>
#include <vector>

namespace doetune::study {

struct StudyDirectory;

/// All that study.yaml, plan.csv and plan.json are written from.
struct KeptSheet {
  std::string
      hash;  ///< of plan_csv and what a run executes; StudyDirectory::plan_hash is the first
  std::string plan;   ///< StudyDirectory::plan_hash
  std::string study;  ///< its name
  std::string working_directory;
  std::vector<std::string> notes;
  std::string study_yaml;
  std::string plan_csv;

  bool operator==(const KeptSheet&) const = default;
};

/// The sheet of a directory as it is now.
KeptSheet sheet_of(const StudyDirectory& directory);

}  // namespace doetune::study
