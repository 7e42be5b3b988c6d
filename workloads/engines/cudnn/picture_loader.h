// Pictures on their way to the GPU.
#pragma once

#include <array>

#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/kernels.h"
#include "workloads/video/picture.h"

namespace doetune::workloads::cudnn {

/// Copies a picture's planes into page-locked memory, from there to the GPU, and scales it there.
/// Only the first copy is done when load returns; a ring of buffers bounds how many pictures are
/// under way.
class PictureLoader {
 public:
  /// All work is put on this stream.
  explicit PictureLoader(cudaStream_t stream) : stream_(stream) {}

  /// Into three channels from the view's first on, of one image.
  void load(const PictureView& picture, Precision precision, const View& to);

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
