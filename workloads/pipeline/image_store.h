// Coded images on disk, in one file or in a file each.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "workloads/video/clip.h"

namespace doetune::workloads {

/// JPEG images of a street scene by index.
class ImageStore {
 public:
  virtual ~ImageStore() = default;
  virtual int count() const = 0;
  /// Reads an image's bytes into `bytes`. Thread-safe. Throws std::runtime_error, naming the file,
  /// where it cannot be read.
  virtual void read(int index, std::vector<std::byte>& bytes) const = 0;
};

/// Images in one file with their offsets: a clip, mapped (clip.h).
std::unique_ptr<ImageStore> open_records(const ClipSpec& spec,
                                         const std::filesystem::path& directory);

/// The same images, each a file `000000.jpg` in a folder in `directory`, created once and put in
/// place by rename. Throws UsageError where the directory neither exists nor can be created, and
/// std::runtime_error where the images cannot be written.
std::unique_ptr<ImageStore> open_loose(const ClipSpec& spec,
                                       const std::filesystem::path& directory);

}  // namespace doetune::workloads
