#include "runner/attempts/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "study/files.h"

namespace doetune::runner {

namespace fs = std::filesystem;

void place_run(const fs::path& server_directory, const fs::path& attempt_directory) {
  const fs::path entry = server_directory / "start" / attempt_directory.filename();
  std::error_code error;
  fs::create_directories(entry, error);  // an entry is there at once, and complete
  if (error) {
    throw study::DirectoryError(
        fmt::format("cannot create {}: {}", entry.string(), error.message()));
  }
}

std::vector<std::string> placed_runs(const fs::path& server_directory) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(server_directory / "start", missing)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace doetune::runner
