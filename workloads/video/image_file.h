// Image files: JPEG, PNG, BMP, PPM, PGM and WebP, decoded by FFmpeg's libavcodec.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "workloads/video/decoded_image.h"
#include "workloads/video/video.h"

namespace doetune::workloads {

/// The images in a directory and its subdirectories, recognised by file extension (.jpg .jpeg .png
/// .bmp .ppm .pgm .pnm .webp, in any case), sorted by path. Links to files count, links to
/// directories are not followed. Throws std::filesystem::filesystem_error.
std::vector<std::filesystem::path> images_in(const std::filesystem::path& directory);

/// The maximum size of an image file.
inline constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{1} << 28;

/// Reads a whole file. Throws VideoError.
std::vector<std::byte> read_file(const std::filesystem::path& file);

/// Decodes whole image files, whose format is recognised by their first bytes, on the calling
/// thread.
class ImageDecoder {
 public:
  ImageDecoder();
  ~ImageDecoder();

  /// Ignores transparency. Throws VideoError, with the reason, for a damaged or unknown image; the
  /// decoder remains usable.
  DecodedImage decode(std::span<const std::byte> file);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doetune::workloads
