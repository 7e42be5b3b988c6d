// Stores the conditions of each machine in the study directory.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace doetune::runner {

/// Writes STUDY/conditions/host-NAME.json for this machine, unless the file is less than ten
/// minutes old: querying the driver and git for every run could take longer than the run. Errors
/// are ignored; nothing else depends on the file.
void note_conditions(const std::filesystem::path& study_directory,
                     const std::filesystem::path& working_directory,
                     const std::map<std::string, std::string>& environment);

/// Finds the conditions of an attempt by the host on which it ran.
class ConditionsStore {
 public:
  explicit ConditionsStore(std::filesystem::path study_directory);

  /// The ID of the latest conditions of the host, which are saved permanently as
  /// conditions/ID.json; empty if there are none.
  std::string id_of(const std::string& host);

 private:
  std::filesystem::path directory_;
  std::map<std::string, std::pair<std::filesystem::file_time_type, std::string>> known_;
};

}  // namespace doetune::runner
