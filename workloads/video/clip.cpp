#include "workloads/video/clip.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <vector>

#include "base/file_descriptor.h"
#include "base/files.h"
#include "base/hash.h"
#include "workloads/video/scene.h"
#include "workloads/video/video.h"

namespace doetune::workloads {
namespace {

constexpr std::uint64_t kMagic = 0x32504C4354454F44;  // "DOETCLP2"; changes with format or drawing

struct Trailer {
  std::uint64_t codec;
  std::uint64_t frames;
  std::uint64_t checksum;
  std::uint64_t magic;
};

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const auto* data = static_cast<const std::byte*>(from);
  to.insert(to.end(), data, data + bytes);
}

std::vector<std::byte> make_clip(const ClipSpec& spec) {
  const Scene scene(spec.width, spec.height, spec.seed);
  FrameEncoder encoder(spec.width, spec.height, spec.codec);
  YcbcrImage image(spec.width, spec.height);
  std::vector<std::byte> file;
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> key_frames;
  for (int frame = 0; frame < spec.frames; ++frame) {
    offsets.push_back(file.size());
    scene.draw(frame, image);
    const auto packet = encoder.encode(image.view());
    append(file, packet.data(), packet.size());
    key_frames.push_back(encoder.key_frame() ? frame : key_frames.at(frame - 1));
  }
  offsets.push_back(file.size());
  file.resize((file.size() + 7) / 8 * 8);  // aligns the integers that follow
  append(file, offsets.data(), offsets.size() * sizeof offsets[0]);
  append(file, key_frames.data(), key_frames.size() * sizeof key_frames[0]);
  const Trailer trailer{static_cast<std::uint64_t>(spec.codec),
                        static_cast<std::uint64_t>(spec.frames), fnv1a(file), kMagic};
  append(file, &trailer, sizeof trailer);
  return file;
}

FileDescriptor open_valid(const std::filesystem::path& path, const ClipSpec& spec) {
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return file;
  const auto clip = Clip::read(file.get(), true);
  return clip && clip->frames() == spec.frames ? std::move(file) : FileDescriptor();
}

/// Creates the file unless another program has done so by the time the lock is acquired.
FileDescriptor make_in_cache(const ClipSpec& spec, const std::filesystem::path& path) {
  const FileDescriptor lock(
      open((path.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock || flock(lock.get(), LOCK_EX) != 0) return {};
  if (FileDescriptor file = open_valid(path, spec)) return file;
  std::cerr << "making the video " << path.string() << " (once)" << std::endl;
  const auto bytes = make_clip(spec);
  // A fixed name, so that the next program overwrites what a killed one left.
  const std::string partial = path.string() + ".partial";
  const FileDescriptor out(open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!out) return {};
  if (!write_all(out.get(), bytes) || rename(partial.c_str(), path.c_str()) != 0) {
    unlink(partial.c_str());
    return {};
  }
  return open_valid(path, spec);
}

FileDescriptor make_in_memory(const ClipSpec& spec) {
  const auto bytes = make_clip(spec);
  FileDescriptor file = make_memory_file("doetune-clip", bytes.size());
  const Mapping mapping(file.get(), Access::read_write);
  std::memcpy(mapping.bytes().data(), bytes.data(), bytes.size());
  return file;
}

}  // namespace

std::string ClipSpec::file_name() const {
  return fmt::format("street-{}x{}-{}-frames-seed-{}.{}", width, height, frames, seed,
                     name_of(codec));
}

std::optional<Clip> Clip::read(int fd, bool verify) {
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size < static_cast<off_t>(sizeof(Trailer)) || size % 8 != 0) return std::nullopt;
  Clip clip;
  clip.mapping_ = Mapping(fd, Access::read_only);
  const std::span<const std::byte> bytes = clip.mapping_.bytes();
  const auto body = bytes.first(bytes.size() - sizeof(Trailer));
  Trailer trailer;
  std::memcpy(&trailer, bytes.data() + body.size(), sizeof trailer);
  const std::size_t frames = trailer.frames;
  if (trailer.magic != kMagic || frames == 0 || frames >= body.size() / 16) return std::nullopt;
  if (trailer.codec > static_cast<std::uint64_t>(VideoCodec::av1)) return std::nullopt;
  if (verify && trailer.checksum != fnv1a(body)) return std::nullopt;
  const auto* end = reinterpret_cast<const std::uint64_t*>(body.data() + body.size());
  clip.key_frames_ = {end - frames, frames};
  clip.offsets_ = {end - (2 * frames + 1), frames + 1};
  for (std::size_t i = 0; i < frames; ++i)
    if (clip.offsets_[i] > clip.offsets_[i + 1] || clip.key_frames_[i] > i) return std::nullopt;
  if (clip.offsets_[frames] > body.size()) return std::nullopt;
  clip.codec_ = static_cast<VideoCodec>(trailer.codec);
  clip.frames_ = static_cast<int>(frames);
  return clip;
}

std::span<const std::byte> Clip::packet(int frame) const {
  return mapping_.bytes().subspan(offsets_[frame], offsets_[frame + 1] - offsets_[frame]);
}

FileDescriptor open_clip(const ClipSpec& spec, const std::filesystem::path& directory) {
  if (!directory.empty()) {
    const std::filesystem::path path = directory / spec.file_name();
    if (FileDescriptor file = open_valid(path, spec)) return file;
    std::error_code ignored;
    std::filesystem::create_directories(directory, ignored);
    if (FileDescriptor file = make_in_cache(spec, path)) return file;
    std::cerr << "cannot store a video in " << directory.string() << "; keeping it in memory"
              << std::endl;
  }
  return make_in_memory(spec);
}

}  // namespace doetune::workloads
