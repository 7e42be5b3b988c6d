// On-disk cache of the engines chosen for convolutions, since choosing by timing takes seconds.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "workloads/engines/cudnn/engines.h"

namespace doetune::workloads::cudnn {

/// The engine for a case, and the operations that it includes.
struct Choice {
  Fusion fusion = Fusion::everything;
  EngineConfiguration configuration;
  bool operator==(const Choice&) const = default;
};

/// One JSON file for each GPU model and version of cuDNN:
///   {"<key of the case>": {"fusion": "everything", "engine": 41, "knobs": {"2": 5}}, ...}
/// An unreadable file counts as empty, an unreadable entry as absent: lost choices are made again.
/// Programs may share the file; each replaces it as a whole.
class PlanCache {
 public:
  /// With an empty directory nothing is stored on disk.
  PlanCache(const std::filesystem::path& directory, std::string_view gpu, std::size_t version);

  std::optional<Choice> find(const std::string& key) const;
  void add(const std::string& key, const Choice& choice);
  /// Writes the new entries, merged with those that others have written meanwhile. Failure is no
  /// error.
  void save();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::map<std::string, Choice> choices_;
  bool changed_ = false;
};

}  // namespace doetune::workloads::cudnn
