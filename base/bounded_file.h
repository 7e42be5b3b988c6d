// Reads files written by an untrusted program.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace doetune {

/// The content of a regular file. Empty for a file that is missing, longer than `max_bytes`, or
/// anything but a regular file: symbolic links are not followed, and a FIFO does not block.
std::optional<std::string> read_bounded(const std::filesystem::path& file, std::size_t max_bytes);

/// The last `max_bytes` of a regular file; an empty text if there is none. `cut`, if not null, is
/// set to whether the file is longer.
std::string read_tail(const std::filesystem::path& file, std::size_t max_bytes,
                      bool* cut = nullptr);

}  // namespace doetune
