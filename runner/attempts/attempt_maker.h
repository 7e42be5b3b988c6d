// Creates launchable attempts from planned runs.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "runner/attempts/attempt.h"
#include "runner/attempts/request.h"
#include "study/directory/directory.h"

namespace doetune::runner {

/// Creates the attempts of one study; looks up each program only once.
class AttemptMaker {
 public:
  /// `ranks` is the launcher's program for starting several processes, used unless the study names
  /// one. Throws RunError for a bundled workload that cannot be found.
  AttemptMaker(const study::StudyDirectory& directory, std::string_view ranks);

  /// The absolute directory of an attempt. Throws study::DirectoryError if it is relative and there
  /// is no current directory.
  std::filesystem::path path(int run, int number) const;

  /// Throws RunError for an unknown placeholder or a missing program.
  Attempt make(const study::PlannedRun& run, int number, const Slot& slot);

 private:
  const std::filesystem::path& program(const std::string& name);
  void start_in_ranks(Attempt& attempt);

  const study::StudyDirectory& directory_;
  const study::Study& study_;
  std::string ranks_;
  std::filesystem::path workload_;
  std::map<std::string, std::filesystem::path> programs_;
};

}  // namespace doetune::runner
