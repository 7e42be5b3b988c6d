// Images on their way to the GPU.
#pragma once

#include <array>

#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/kernels.h"
#include "workloads/video/ycbcr_image.h"

namespace doetune::workloads::cudnn {

/// Copies an image's planes into page-locked memory, from there to the GPU, and scales it there.
/// Only the first copy is done when load returns; a ring of buffers bounds how many images are
/// under way.
class ImageLoader {
 public:
  /// All work is put on this stream.
  explicit ImageLoader(cudaStream_t stream) : stream_(stream) {}

  /// Into three channels from the view's first on, of one image.
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
