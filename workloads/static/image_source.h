// What a static run works on: images that are all there when it starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "workloads/mapping.h"
#include "workloads/protocol/protocol.h"
#include "workloads/static/static_report.h"
#include "workloads/video/decoded_image.h"

namespace doetune::workloads {

/// Where images come from.
struct ImageSetRequest {
  std::string source;                  ///< "generated", a directory, or a video file
  std::optional<std::int64_t> images;  ///< to generate, or at most so many of the source
  int width = 1280;                    ///< of generated images, even
  int height = 720;
  double frames_per_second = 30;  ///< of what is no video file
};

inline constexpr std::int64_t kGeneratedImages = 256;  ///< where no number is given
/// Generated images repeat after so many.
inline constexpr int kDistinctImages = 128;

/// What all processes of a run must know of a set of images.
struct ImageSet {
  enum class Kind { generated, directory, video };

  Kind kind = Kind::generated;
  std::string path;         ///< of the video file
  std::int64_t images = 0;  ///< at least one
  double frames_per_second = 30;
  int file = -1;  ///< open descriptor; generated: a clip; directory: paths, each ended by a zero
};

/// A set of images and what holds it.
struct OpenImageSet {
  ImageSet data;
  FileDescriptor file;
  Json notes = Json::object();
};

/// Throws UsageError where the source is neither and where a directory has no images, and
/// std::runtime_error, naming the file, for a video that cannot be read.
OpenImageSet open_image_set(const ImageSetRequest& request);

/// The images of a set by number, for one thread.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  /// Adds the time that reading and decoding takes. Throws VideoError, naming the file, for a
  /// image that cannot be read.
  virtual DecodedImage image(std::int64_t number, StageTimes& times) = 0;

  /// Frames of a video that could not be decoded so far, for which others were given.
  virtual std::int64_t undecodable() const { return 0; }
};

std::unique_ptr<ImageSource> open_source(const ImageSet& data);

}  // namespace doetune::workloads
