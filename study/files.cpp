#include "study/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/files.h"
#include "base/nearest_name.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

void replace(const fs::path& file, const std::string& content, Durability durability) {
  std::error_code error;
  if (fs::is_directory(file, error)) fail_at_path(file, "is a directory; name a file");
  try {
    replace_file(file, content, durability);
  } catch (const WriteError& failed) {
    fail_at_path(file, "cannot be written: " + failed.reason);
  }
}

constexpr int kMaxEntries = 1000;
constexpr std::size_t kLongestName = 64;

bool is_of_kind(const fs::path& path, Entry kind) {
  std::error_code error;
  return kind == Entry::kFile ? fs::is_regular_file(path, error) : is_study_directory(path);
}

/// Whether a name is within an edit distance of a third of its length, or differs in the extension
/// only.
bool is_near(const std::string& wanted, const std::string& name) {
  if (wanted.size() > kLongestName || name.size() > kLongestName) return false;
  const auto max_distance = static_cast<int>(std::max(wanted.size(), name.size()) / 3);
  return edit_distance(wanted, name) <= std::max(1, max_distance) ||
         fs::path(wanted).stem() == fs::path(name).stem();
}

}  // namespace

void fail_at_path(const fs::path& path, const std::string& message) {
  throw DirectoryError(fmt::format("{}: {}", path.string(), message));
}

void write_file_atomically(const fs::path& file, const std::string& content) {
  replace(file, content, Durability::renamed);
}

void write_file_durably(const fs::path& file, const std::string& content) {
  replace(file, content, Durability::on_disk);
}

bool is_study_directory(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "plan.json", error) || fs::exists(path / "runs.jsonl", error);
}

void create_directories_durably(const fs::path& path) {
  std::error_code error;
  std::vector<fs::path> missing;
  for (fs::path part = fs::absolute(path / "").parent_path(); !fs::exists(part, error);
       part = part.parent_path()) {
    missing.push_back(part);
  }
  fs::create_directories(path, error);
  if (error) fail_at_path(path, fmt::format("cannot be created: {}", error.message()));
  try {
    for (const fs::path& part : missing) sync_directory(part.parent_path());
  } catch (const WriteError& failed) {
    fail_at_path(path, "cannot be created: " + failed.reason);
  }
}

std::string read_file(const fs::path& file) {
  if (!fs::exists(file)) {
    fail_at_path(file, "there is no such file" + did_you_mean_entry(file, Entry::kFile));
  }
  if (!fs::is_regular_file(file)) fail_at_path(file, "is not a regular file");
  std::ifstream stream(file, std::ios::binary);
  std::string text(fs::file_size(file), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream) fail_at_path(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

std::string did_you_mean_entry(const fs::path& missing, Entry kind) {
  const std::string wanted = (missing / "").parent_path().filename().string();
  const fs::path folder = (missing / "").parent_path().parent_path();
  std::vector<std::string> near;
  int seen = 0;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    if (++seen > kMaxEntries) break;
    const std::string name = entry.path().filename().string();
    if (is_near(wanted, name) && is_of_kind(entry.path(), kind)) near.push_back(name);
  }
  if (near.empty()) return "";
  const auto nearest =
      std::min_element(near.begin(), near.end(), [&](const std::string& a, const std::string& b) {
        return edit_distance(wanted, a) < edit_distance(wanted, b);
      });
  return "; did you mean '" + (folder / *nearest).string() + "'?";
}

}  // namespace doetune::study
