// A folder on machines that do not share the study directory, where runs are executed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "runner/attempts/attempt.h"
#include "runner/launchers/client_command.h"
#include "study/run_settings.h"

namespace doetune::runner {

/// TO/doetune-HASH on each machine, with a hash of the study directory's path: `files` has copies
/// of the study's files, and `runs` the directories of attempts. An attempt is executed there by
/// `doetune-attempt --attached`, which prints what it leaves, and ends with whoever reads that.
class Stage {
 public:
  static constexpr double kCopy_s = 3600;  ///< the longest that copying the files may take

  Stage(study::StageSettings settings, std::filesystem::path study_directory);

  /// Throws RunError for a study with servers of whole plots, which need a shared directory.
  static void refuse_servers(const study::RunSettings& run);

  const std::vector<std::string>& files() const { return settings_.files; }
  std::string files_folder() const { return folder_ + "/files"; }

  /// The attempt as it is executed there: paths of its directory are those of that machine.
  Attempt there(Attempt attempt) const;

  /// The arguments of doetune-attempt for it. `attempt.directory` is that of this machine, and has
  /// the attempt's input files. Throws study::DirectoryError.
  std::vector<std::string> arguments(const Attempt& attempt) const;

  /// Stores what the attempt has printed in its directory here; `answer` then says why it could not
  /// be stored.
  static void store(ClientAnswer& answer, const Attempt& attempt);

 private:
  std::string directory_there(const Attempt& attempt) const;

  study::StageSettings settings_;
  std::filesystem::path study_directory_;
  std::string folder_;
};

}  // namespace doetune::runner
