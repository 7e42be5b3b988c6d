#include "study/files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/files.h"
#include "study/nearest_file.h"

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

}  // namespace doetune::study
