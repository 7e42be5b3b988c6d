// The images of a static run, all available when it starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"
#include "workloads/protocol/protocol.h"
#include "workloads/static/static_report.h"
#include "workloads/video/decoded_image.h"

namespace doetune::workloads {

/// The source of the images.
struct ImageSetRequest {
  std::string source;                  ///< "generated", a directory, or a video file
  std::optional<std::int64_t> images;  ///< to generate, or the maximum taken from the source
  int width = 1280;                    ///< of generated images, even
  int height = 720;
  double frames_per_second = 30;  ///< of sources other than video files
};

inline constexpr std::int64_t kGeneratedImages = 256;  ///< default number
/// Generated images repeat with this period.
inline constexpr int kDistinctImages = 128;

/// Description of a set of images, shared by all processes of a run.
struct ImageSet {
  enum class Kind { generated, directory, video };

  Kind kind = Kind::generated;
  std::string path;         ///< of the video file
  std::int64_t images = 0;  ///< at least one
  double frames_per_second = 30;
  int file = -1;  ///< open descriptor; generated: a clip; directory: NUL-terminated paths
};

/// A set of images and the resources that hold it.
struct OpenImageSet {
  ImageSet data;
  FileDescriptor file;
  Json notes = Json::object();
};

/// Throws UsageError where the source is neither a directory nor a file and where a directory has
/// no images, and std::runtime_error, naming the file, for a video that cannot be read.
OpenImageSet open_image_set(const ImageSetRequest& request);

/// The images of a set by number, for one thread.
class ImageSource {
 public:
  virtual ~ImageSource() = default;

  /// Adds the time spent on reading and decoding. Throws VideoError, naming the file, for an image
  /// that cannot be read.
  virtual DecodedImage image(std::int64_t number, StageTimes& times) = 0;

  /// The number of video frames so far that could not be decoded and were substituted.
  virtual std::int64_t undecodable() const { return 0; }
};

std::unique_ptr<ImageSource> open_source(const ImageSet& data);

}  // namespace doetune::workloads
