// Files that change as a whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace doetune {

/// Whether all bytes are written; if not, errno says why.
bool write_all(int fd, std::span<const std::byte> bytes);

/// Whether the path still names the file or directory that is open, which nobody has moved, deleted
/// or replaced. While nothing can be learned of the path, as when a network file system does not
/// answer, it does.
bool still_names(const std::filesystem::path& path, int opened);

enum class Durability { renamed, on_disk };

/// A file that could not be written: "cannot write FILE: reason".
struct WriteError : std::runtime_error {
  WriteError(const std::filesystem::path& file, const std::string& why);
  std::string reason;
};

/// Writes `FILE.PID.partial` and renames it, so that at any moment the file holds what it held or
/// all of `bytes`; with on_disk the bytes are on the disk before they have the name, and the name
/// is when this returns. Throws WriteError, and leaves nothing behind.
void replace_file(const std::filesystem::path& file, std::string_view bytes,
                  Durability durability = Durability::renamed);

/// Brings the names in a directory to the disk: what a flush of a new file leaves open. A file
/// system that cannot do this for a directory is taken as it is. Throws WriteError.
void sync_directory(const std::filesystem::path& directory);

/// The same as replace_file of numbers as they lie in memory, without a head: numpy.fromfile(file,
/// "f4").
void replace_file(const std::filesystem::path& file, std::span<const float> values);

/// Removes `FILE.PID.partial` of processes that are gone: killed while they wrote. For files that
/// are written from one machine, whose processes alone are known.
void remove_left_behind(const std::filesystem::path& file);

}  // namespace doetune
