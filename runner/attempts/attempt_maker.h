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
  /// one. Without `programs_here`, programs are searched where the attempt is executed
  /// (attempt_file.h). Throws RunError for a bundled workload that cannot be found.
  AttemptMaker(const study::StudyDirectory& directory, std::string_view ranks,
               bool programs_here = true);

  /// The absolute directory of an attempt. Throws study::DirectoryError if it is relative and there
  /// is no current directory.
  std::filesystem::path path(int run, int number) const;

  /// Throws RunError for an unknown placeholder or a missing program.
  Attempt make(const study::PlannedRun& run, int number, const Slot& slot);

  /// The server for the whole plot of a run (run.set_up), with a time limit for all its runs.
  /// Throws RunError like make().
  Attempt make_server(const study::PlannedRun& run, const std::string& name,
                      const std::filesystem::path& directory, const Slot& slot);

 private:
  void set_resources(Attempt& attempt, const Slot& slot) const;
  const std::filesystem::path& program(const std::string& name);
  void search_in(Attempt& attempt);
  void start_in_ranks(Attempt& attempt);

  const study::StudyDirectory& directory_;
  const study::Study& study_;
  std::string ranks_;
  bool programs_here_;
  std::filesystem::path workload_;
  std::map<std::string, std::filesystem::path> programs_;
};

}  // namespace doetune::runner
