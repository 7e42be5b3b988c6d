#include "workloads/static/image_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "workloads/timing/stage_clock.h"
#include "workloads/video/clip.h"
#include "workloads/video/image_file.h"
#include "workloads/video/video_file.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

class ClipImages : public ImageSource {
 public:
  explicit ClipImages(int clip_file) : clip_(Clip::read(clip_file, false).value()) {}

  DecodedImage image(std::int64_t number, StageTimes& times) override {
    StageClock clock;
    DecodedImage image = decoder_.decode(clip_.packet(static_cast<int>(number % clip_.frames())));
    clock.lap(times[Stage::decode]);
    return image;
  }

 private:
  Clip clip_;
  ImageDecoder decoder_;
};

class DirectoryImages : public ImageSource {
 public:
  explicit DirectoryImages(int list) : list_(list, Access::read_only) {
    const std::string_view text(reinterpret_cast<const char*>(list_.bytes().data()),
                                list_.bytes().size());
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\0', begin);
      files_.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  DecodedImage image(std::int64_t number, StageTimes& times) override {
    const std::string_view file = files_[static_cast<std::size_t>(number)];
    try {
      StageClock clock;
      const std::vector<std::byte> bytes = read_file(file);
      clock.lap(times[Stage::read]);
      DecodedImage image = decoder_.decode(bytes);
      clock.lap(times[Stage::decode]);
      return image;
    } catch (const VideoError& error) {
      throw VideoError(fmt::format("the image {}: {}", file, error.what()));
    }
  }

 private:
  Mapping list_;
  std::vector<std::string_view> files_;
  ImageDecoder decoder_;
};

class VideoImages : public ImageSource {
 public:
  explicit VideoImages(const std::string& file) : reader_(file) {}

  DecodedImage image(std::int64_t number, StageTimes& times) override {
    StageClock clock;
    DecodedImage image = reader_.frame(number);
    clock.lap(times[Stage::decode]);
    return image;
  }

  std::int64_t undecodable() const override { return reader_.undecodable(); }

 private:
  VideoReader reader_;
};

std::int64_t limited(std::int64_t there, const std::optional<std::int64_t>& limit) {
  return std::min(there, limit.value_or(there));
}

OpenImageSet generate(const ImageSetRequest& request) {
  OpenImageSet open;
  open.data.kind = ImageSet::Kind::generated;
  open.data.images = request.images.value_or(kGeneratedImages);
  open.data.frames_per_second = request.frames_per_second;
  const auto distinct = static_cast<int>(std::min<std::int64_t>(open.data.images, kDistinctImages));
  open.file = open_clip({request.width, request.height, distinct, 1}, cache_directory());
  open.data.file = open.file.get();
  return open;
}

OpenImageSet open_directory(const ImageSetRequest& request) {
  OpenImageSet open;
  std::vector<fs::path> files = images_in(fs::absolute(request.source));
  if (files.empty())
    throw UsageError(
        fmt::format("the directory {} and its subdirectories contain no images (.jpg .png .bmp "
                    ".ppm .pgm .webp)",
                    request.source));
  open.data.kind = ImageSet::Kind::directory;
  open.data.images = limited(static_cast<std::int64_t>(files.size()), request.images);
  open.data.frames_per_second = request.frames_per_second;
  files.resize(static_cast<std::size_t>(open.data.images));
  std::string list;
  for (const fs::path& file : files) list += file.native() + '\0';
  open.file = make_memory_file("doetune-images", list.size());
  const Mapping mapping(open.file.get(), Access::read_write);
  std::memcpy(mapping.bytes().data(), list.data(), list.size());
  open.data.file = open.file.get();
  return open;
}

OpenImageSet open_video(const ImageSetRequest& request) {
  OpenImageSet open;
  open.data.path = fs::absolute(request.source).string();
  open.data.kind = ImageSet::Kind::video;
  try {
    const VideoInformation video = VideoReader(open.data.path).information();
    open.data.images = limited(video.frames, request.images);
    open.data.frames_per_second = video.frames_per_second;
    open.notes["video"] = fmt::format("{} x {} pixels, {:g} frames/s", video.width, video.height,
                                      video.frames_per_second);
    // Containers round durations: one frame of difference is normal.
    if (video.frames + 1 < video.expected)
      open.notes["video_ends_early"] =
          fmt::format("the file has {} of the {} frames that its header announces", video.frames,
                      video.expected);
  } catch (const VideoError& error) {
    throw VideoError(fmt::format("the video {}: {}", request.source, error.what()));
  }
  return open;
}

}  // namespace

OpenImageSet open_image_set(const ImageSetRequest& request) {
  if (request.source == "generated") return generate(request);
  std::error_code none;
  const fs::file_status status = fs::status(request.source, none);
  if (fs::is_directory(status)) return open_directory(request);
  if (fs::is_regular_file(status)) return open_video(request);
  throw UsageError(
      fmt::format("source is 'generated', a directory of images or a video file; there is no '{}'",
                  request.source));
}

std::unique_ptr<ImageSource> open_source(const ImageSet& data) {
  switch (data.kind) {
    case ImageSet::Kind::generated:
      return std::make_unique<ClipImages>(data.file);
    case ImageSet::Kind::directory:
      return std::make_unique<DirectoryImages>(data.file);
    case ImageSet::Kind::video:
      break;
  }
  return std::make_unique<VideoImages>(data.path);
}

}  // namespace doetune::workloads
