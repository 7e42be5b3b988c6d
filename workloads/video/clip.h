// The video that all cameras show, made once per machine and mapped by every process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "workloads/cache.h"
#include "workloads/mapping.h"

namespace doetune::workloads {

struct ClipSpec {
  int width = 1280;  // even
  int height = 720;  // even
  int frames = 100;
  std::uint64_t seed = 1;

  std::string file_name() const;
};

/// A clip of Motion JPEG packets. The file is the packets one after another (players show it as
/// `.mjpeg`), then the offsets of the packets and of the end as 64-bit integers, the number of
/// packets, a checksum of all before it (FNV-1a, 64 bits) and a magic number.
class Clip {
 public:
  /// Reads an open file; `verify` also compares the checksum. Empty if it is not a whole clip.
  static std::optional<Clip> read(int fd, bool verify);

  int frames() const { return frames_; }
  std::span<const std::byte> packet(int frame) const;

 private:
  Mapping mapping_;
  std::span<const std::uint64_t> offsets_;
  int frames_ = 0;
};

/// An open clip from `directory`, made there first if it is missing or damaged: under a lock, and
/// renamed into place, so that any number of programs may ask at once. Where the directory cannot
/// be written, the clip is made in memory for this program alone.
FileDescriptor open_clip(const ClipSpec& spec, const std::filesystem::path& directory);

}  // namespace doetune::workloads
