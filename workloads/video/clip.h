// The video that all cameras show, made once per machine and mapped by every process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "base/file_descriptor.h"
#include "workloads/cache.h"
#include "workloads/mapping.h"
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

/// A clip of coded frames. The file is the packets one after another (players show Motion JPEG as
/// it is), then 64-bit integers: the offsets of the packets and of the end, for each frame the key
/// frame that it is decoded from, the codec, the number of frames, a checksum of all before the
/// codec (checksum.h) and a magic number. The first frame is a key frame.
class Clip {
 public:
  /// Reads an open file; `verify` also compares the checksum. Empty if it is not a whole clip.
  /// Whatever the file holds, packets lie within it and key frames before their frames.
  static std::optional<Clip> read(int fd, bool verify);

  int frames() const { return frames_; }
  VideoCodec codec() const { return codec_; }
  std::span<const std::byte> packet(int frame) const;
  /// The latest frame, at or before this one, from which decoding may begin.
  int key_frame(int frame) const { return static_cast<int>(key_frames_[frame]); }

 private:
  Mapping mapping_;
  std::span<const std::uint64_t> offsets_;
  std::span<const std::uint64_t> key_frames_;
  VideoCodec codec_ = VideoCodec::mjpeg;
  int frames_ = 0;
};

/// An open clip from `directory`, made there first if it is missing or damaged: under a lock, and
/// renamed into place, so that any number of programs may ask at once. Where the directory cannot
/// be written, the clip is made in memory for this program alone.
FileDescriptor open_clip(const ClipSpec& spec, const std::filesystem::path& directory);

}  // namespace doetune::workloads
