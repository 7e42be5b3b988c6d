// The conditions of each machine that runs were made on, in the study directory.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

namespace doetune::runner {

/// Writes STUDY/conditions/host-NAME.json for this machine, unless that is younger than ten
/// minutes: asking the driver and git for every run would cost more than a short run. Conditions
/// that cannot be read or written are missing; nothing else depends on them.
void note_conditions(const std::filesystem::path& study_directory,
                     const std::filesystem::path& working_directory,
                     const std::map<std::string, std::string>& environment);

/// Which conditions an attempt was made under, by the host that it ran on.
class ConditionsStore {
 public:
  explicit ConditionsStore(std::filesystem::path study_directory);

  /// The id of the host's conditions as they were noted last, kept for good as conditions/ID.json;
  /// empty where none were.
  std::string id_of(const std::string& host);

 private:
  std::filesystem::path directory_;
  std::map<std::string, std::pair<std::filesystem::file_time_type, std::string>> known_;
};

}  // namespace doetune::runner
