// What a static run works on: pictures that are all there when it starts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "workloads/mapping.h"
#include "workloads/protocol/protocol.h"
#include "workloads/static/static_report.h"
#include "workloads/video/decoded_picture.h"

namespace doetune::workloads {

/// Where pictures come from.
struct PictureSetRequest {
  std::string source;                  ///< "generated", a directory, or a video file
  std::optional<std::int64_t> images;  ///< to generate, or at most so many of the source
  int width = 1280;                    ///< of generated pictures, even
  int height = 720;
  double frames_per_second = 30;  ///< of what is no video file
};

inline constexpr std::int64_t kGeneratedImages = 256;  ///< where no number is given
/// Generated pictures repeat after so many.
inline constexpr int kDistinctImages = 128;

/// What all processes of a run must know of a set of pictures.
struct PictureSet {
  enum class Kind { generated, directory, video };

  Kind kind = Kind::generated;
  std::string path;         ///< of the video file
  std::int64_t images = 0;  ///< at least one
  double frames_per_second = 30;
  int file = -1;  ///< open descriptor; generated: a clip; directory: paths, each ended by a zero
};

/// A set of pictures and what holds it.
struct OpenPictureSet {
  PictureSet data;
  FileDescriptor file;
  Json notes = Json::object();
};

/// Throws UsageError where the source is neither and where a directory has no pictures, and
/// std::runtime_error, naming the file, for a video that cannot be read.
OpenPictureSet open_picture_set(const PictureSetRequest& request);

/// The pictures of a set by number, for one thread.
class PictureSource {
 public:
  virtual ~PictureSource() = default;

  /// Adds the time that reading and decoding takes. Throws VideoError, naming the file, for a
  /// picture that cannot be read.
  virtual DecodedPicture picture(std::int64_t number, StageTimes& times) = 0;

  /// Frames of a video that could not be decoded so far, for which others were given.
  virtual std::int64_t undecodable() const { return 0; }
};

std::unique_ptr<PictureSource> open_source(const PictureSet& data);

}  // namespace doetune::workloads
