#include "workloads/cache.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "base/file_descriptor.h"
#include "base/files.h"
#include "workloads/memory_mapping.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;
using Valid = std::function<bool(const std::string&)>;

std::optional<std::string> read_valid(const fs::path& path, const Valid& valid) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()) || !valid(text.str())) return std::nullopt;
  return text.str();
}

bool kept(const fs::path& path, const std::string& text) try {
  replace_file(path, text);
  return true;
} catch (const std::runtime_error&) {
  return false;
}

}  // namespace

fs::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "doetune";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "doetune";
  return {};
}

std::string kept_text(const fs::path& directory, const std::string& name, const Valid& valid,
                      const std::function<std::string()>& make, Renewal renewal) {
  if (directory.empty()) return make();
  const fs::path path = directory / name;
  const auto known = [&] {
    return renewal == Renewal::always ? std::nullopt : read_valid(path, valid);
  };
  if (const auto text = known()) return *text;
  std::error_code ignored;
  fs::create_directories(directory, ignored);
  const FileDescriptor lock(
      open((path.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock && flock(lock.get(), LOCK_EX) == 0)
    if (const auto text = known()) return *text;  // another program has written it in the meantime
  std::string text = make();
  if (!lock || !kept(path, text))
    std::cerr << "cannot keep " << path.string() << ": it is used for this run only" << std::endl;
  return text;
}

}  // namespace doetune::workloads
