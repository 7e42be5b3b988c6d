// Reading files that an untrusted program wrote.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace doetune::runner {

/// A regular file's whole text. Empty for one that is not there, is longer than `max_bytes`, or is
/// anything but a regular file: links are not followed, and a FIFO blocks nobody.
std::optional<std::string> read_bounded(const std::filesystem::path& file, std::size_t max_bytes);

/// The last `max_bytes` of a regular file; empty text where there is none. `cut`, where given: told
/// whether there is more.
std::string read_tail(const std::filesystem::path& file, std::size_t max_bytes,
                      bool* cut = nullptr);

}  // namespace doetune::runner
