// Files that are replaced atomically.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace doetune {

/// Whether all bytes were written; if not, errno gives the reason.
bool write_all(int fd, std::span<const std::byte> bytes);

/// Whether the path still refers to the open file or directory `opened`, i.e. it has not been
/// moved, deleted or replaced. True as well if the path cannot be checked, for example while a
/// network file system does not respond.
bool still_names(const std::filesystem::path& path, int opened);

enum class Durability { renamed, on_disk };

/// A file that could not be written: "cannot write FILE: reason".
struct WriteError : std::runtime_error {
  WriteError(const std::filesystem::path& file, const std::string& why);
  std::string reason;
};

/// Writes `FILE.PID.partial` and renames it, so that the file always holds either its old content
/// or all of `bytes`. With on_disk, the data reach the disk before the rename, and the rename
/// before this returns. Throws WriteError and leaves no partial file behind.
void replace_file(const std::filesystem::path& file, std::string_view bytes,
                  Durability durability = Durability::renamed);

/// Flushes the entries of a directory to disk, which flushing a new file does not do. Ignored on
/// file systems that do not support it. Throws WriteError.
void sync_directory(const std::filesystem::path& directory);

/// Writes the values as raw native floats without a header: numpy.fromfile(file, "f4").
void replace_file(const std::filesystem::path& file, std::span<const float> values);

/// Removes the `FILE.PID.partial` files of processes that were killed while writing. Only for files
/// written from a single machine: process IDs of other machines are unknown.
void remove_left_behind(const std::filesystem::path& file);

}  // namespace doetune
