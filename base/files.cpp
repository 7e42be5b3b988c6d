#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "base/file_descriptor.h"

namespace doetune {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".partial";

/// Returns the errno value, or 0 on success.
int write_whole(const fs::path& path, std::span<const std::byte> bytes, Durability durability) {
  const int out = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) return errno;
  int error = 0;
  if (!write_all(out, bytes) || (durability == Durability::on_disk && fsync(out) != 0))
    error = errno;
  if (close(out) != 0 && error == 0) error = errno;
  return error;
}

/// Whether `name` is FILE.PID.partial and process PID no longer exists.
bool left_behind(std::string_view name, std::string_view file) {
  if (!name.starts_with(file)) return false;
  name.remove_prefix(file.size());
  if (!name.starts_with('.')) return false;
  const char* const end = name.data() + name.size();
  pid_t pid = 0;
  const auto [rest, error] = std::from_chars(name.data() + 1, end, pid);
  return error == std::errc{} && std::string_view(rest, end) == kEnding && pid > 0 &&
         kill(pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

WriteError::WriteError(const fs::path& file, const std::string& why)
    : std::runtime_error(fmt::format("cannot write {}: {}", file.string(), why)), reason(why) {}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

bool still_names(const fs::path& path, int opened) {
  struct stat now {
  }, then{};
  if (stat(path.c_str(), &now) != 0) return errno != ENOENT && errno != ENOTDIR;
  if (fstat(opened, &then) != 0) return true;
  return now.st_dev == then.st_dev && now.st_ino == then.st_ino;
}

void replace_file(const fs::path& file, std::string_view bytes, Durability durability) {
  const fs::path partial = fmt::format("{}.{}{}", file.string(), getpid(), kEnding);
  int error = write_whole(partial, std::as_bytes(std::span(bytes)), durability);
  if (error == 0 && rename(partial.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) {
    std::error_code ignored;
    fs::remove(partial, ignored);
    throw WriteError(file, std::strerror(error));
  }
  if (durability == Durability::on_disk) sync_directory(file.parent_path());
}

void sync_directory(const fs::path& directory) {
  const fs::path named = directory.empty() ? "." : directory;
  const FileDescriptor open_directory(open(named.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open_directory && (errno == EACCES || errno == EPERM)) return;  // may only be written to
  if (open_directory && (fsync(open_directory.get()) == 0 || errno == EINVAL)) return;
  throw WriteError(named, std::strerror(errno));
}

void replace_file(const fs::path& file, std::span<const float> values) {
  replace_file(file, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

void remove_left_behind(const fs::path& file) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(file.parent_path(), ignored), end; entry != end;
       entry.increment(ignored))
    if (left_behind(entry->path().filename().string(), file.filename().string()))
      found.push_back(entry->path());
  for (const fs::path& path : found) fs::remove(path, ignored);
}

}  // namespace doetune
