// From planned runs to attempts that a launcher can start.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "runner/attempts/attempt.h"
#include "runner/attempts/request.h"
#include "study/directory.h"

namespace doetune::runner {

/// Makes the attempts of one study; looks for each program once.
class AttemptMaker {
 public:
  /// `ranks`: the launcher's program that starts several processes, where the study names none.
  /// Throws RunError for a bundled workload that is not there.
  AttemptMaker(const study::StudyDirectory& directory, std::string_view ranks);

  /// The directory of an attempt, absolute. Throws study::DirectoryError where there is no current
  /// directory for a relative one.
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
