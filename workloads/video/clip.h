// The video that all cameras show, created once per machine and mapped by every process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/file_descriptor.h"
#include "workloads/cache.h"
#include "workloads/memory_mapping.h"
#include "workloads/video/video.h"

namespace doetune::workloads {

struct ClipSpec {
  int width = 1280;  // even
  int height = 720;  // even
  int frames = 100;
  std::uint64_t seed = 1;
  VideoCodec codec = VideoCodec::mjpeg;

  std::string file_name() const;
};

/// A clip of coded frames. The file holds the packets one after another (so players can show Motion
/// JPEG), then 64-bit integers: the offsets of the packets and of their end, for each frame the key
/// frame that it is decoded from, the codec, the number of frames, a checksum of all before the
/// codec (base/hash.h) and a magic number. The first frame is a key frame.
class Clip {
 public:
  /// Reads an open file; `verify` also compares the checksum. Empty if it is not a complete clip.
  /// Packets are always within the file, and key frames at or before their frames.
  static std::optional<Clip> read(int fd, bool verify);

  int frames() const { return frames_; }
  VideoCodec codec() const { return codec_; }
  std::span<const std::byte> packet(int frame) const;
  /// The latest frame, at or before this one, from which decoding can start.
  int key_frame(int frame) const { return static_cast<int>(key_frames_[frame]); }

 private:
  Mapping mapping_;
  std::span<const std::uint64_t> offsets_;
  std::span<const std::uint64_t> key_frames_;
  VideoCodec codec_ = VideoCodec::mjpeg;
  int frames_ = 0;
};

/// An open clip from `directory`, created first if it is missing or damaged: under a lock, and put
/// in place by rename, so that concurrent programs may call it. Where the directory is not
/// writable, the clip is created in memory for this program alone.
FileDescriptor open_clip(const ClipSpec& spec, const std::filesystem::path& directory);

}  // namespace doetune::workloads
