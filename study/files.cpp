#include "study/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "study/nearest_file.h"

namespace doetune::study {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& message) {
  throw DirectoryError(fmt::format("{}: {}", path.string(), message));
}

void sync(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!synced) fail(path, fmt::format("cannot be brought to the disk: {}", std::strerror(error)));
}

/// Renames a new file into the place of the old one; `durable`: on the disk before and after.
void replace_file(const fs::path& file, const std::string& content, bool durable) {
  std::error_code error;
  if (fs::is_directory(file, error)) fail(file, "is a directory; name a file");
  const fs::path partial = file.string() + ".partial";
  {
    std::ofstream stream(partial, std::ios::binary | std::ios::trunc);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.flush();  // closing would overwrite errno
    if (!stream) fail(file, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
  if (durable) sync(partial);
  fs::rename(partial, file, error);
  if (error) fail(file, fmt::format("cannot be replaced: {}", error.message()));
  if (durable) sync(file.parent_path());
}

}  // namespace

void write_file_atomically(const fs::path& file, const std::string& content) {
  replace_file(file, content, false);
}

void write_file_durably(const fs::path& file, const std::string& content) {
  replace_file(file, content, true);
}

std::string read_file(const fs::path& file) {
  if (!fs::exists(file)) {
    fail(file, "there is no such file" + did_you_mean_entry(file, Entry::kFile));
  }
  if (!fs::is_regular_file(file)) fail(file, "is no regular file");
  std::ifstream stream(file, std::ios::binary);
  std::string text(fs::file_size(file), '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream) fail(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  return text;
}

}  // namespace doetune::study
