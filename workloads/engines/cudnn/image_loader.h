// Upload of images to the GPU, with scaling there.
#pragma once

#include <array>

#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/kernels.h"
#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads::cudnn {

/// Copies an image's planes into page-locked memory and from there to the GPU, and scales the image
/// there. Only the first copy is complete when load returns; a ring of buffers bounds the number of
/// images in flight.
class ImageLoader {
 public:
  /// All work is submitted to this stream.
  explicit ImageLoader(cudaStream_t stream) : stream_(stream) {}

  /// Writes one image into three channels, starting at the view's first.
  void load(const YcbcrView& image, Precision precision, const View& to);

  std::int64_t device_bytes() const;

 private:
  struct Slot {
    PinnedBuffer host;
    DeviceBuffer device;
    Event free;
  };
  static constexpr std::size_t kSlots = 8;

  cudaStream_t stream_;
  std::array<Slot, kSlots> slots_;
  std::size_t next_ = 0;
};

}  // namespace doetune::workloads::cudnn
