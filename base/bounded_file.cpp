#include "base/bounded_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file_descriptor.h"

namespace doetune {
namespace {

struct OpenFile {
  FileDescriptor descriptor;
  std::size_t size = 0;
};

std::optional<OpenFile> open_regular(const std::filesystem::path& file) {
  OpenFile open{FileDescriptor(
      ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC))};
  struct stat status {};
  if (!open.descriptor.is_open() || ::fstat(open.descriptor.get(), &status) != 0 ||
      !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  open.size = static_cast<std::size_t>(status.st_size);
  return open;
}

/// The content from `offset`, at most `bytes`: the file may shrink or grow meanwhile.
std::string read_from(const OpenFile& file, std::size_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  std::size_t length = 0;
  while (length < bytes) {
    const ssize_t got = ::pread(file.descriptor.get(), text.data() + length, bytes - length,
                                static_cast<off_t>(offset + length));
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  return text;
}

}  // namespace

std::optional<std::string> read_bounded(const std::filesystem::path& file, std::size_t max_bytes) {
  const auto open = open_regular(file);
  if (!open || open->size > max_bytes) return std::nullopt;
  return read_from(*open, 0, open->size);
}

std::string read_tail(const std::filesystem::path& file, std::size_t max_bytes, bool* cut) {
  const auto open = open_regular(file);
  if (!open) return "";
  const std::size_t bytes = std::min(open->size, max_bytes);
  if (cut != nullptr) *cut = bytes < open->size;
  return read_from(*open, open->size - bytes, bytes);
}

}  // namespace doetune
