// Coded images on the disk, in one file or in one file each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "workloads/video/clip.h"

namespace doetune::workloads {

/// JPEG images of a street by index.
class ImageStore {
 public:
  virtual ~ImageStore() = default;
  virtual int count() const = 0;
  /// Reads an image's bytes into `bytes`. Any number of threads may ask. Throws
  /// std::runtime_error, naming the file, where it cannot be read.
  virtual void read(int index, std::vector<std::byte>& bytes) const = 0;
};

/// One file with the offset of each image: a clip, mapped (clip.h).
std::unique_ptr<ImageStore> open_records(const ClipSpec& spec,
                                         const std::filesystem::path& directory);

/// The same images, each a file `000000.jpg` of a folder in `directory`, made there once and
/// renamed into place. Throws UsageError where there is no such directory and none can be made, and
/// std::runtime_error where the images cannot be written.
std::unique_ptr<ImageStore> open_loose(const ClipSpec& spec,
                                       const std::filesystem::path& directory);

}  // namespace doetune::workloads
