// Upload of images to the GPU, with scaling there.
#pragma once

#include <array>
#include <future>

#include "workloads/engines/cudnn/copy_threads.h"
#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/kernels.h"
#include "workloads/video/decoded_image.h"

namespace doetune::workloads::cudnn {

/// Copies an image's planes into page-locked memory and from there to the GPU, and scales the image
/// there. A ring of buffers bounds the number of images in flight.
class ImageLoader {
 public:
  /// All work is submitted to this stream. With several threads, others than the caller's make the
  /// copies to page-locked memory: one copies about 11 GB/s, and the connection to a GPU takes 50.
  ImageLoader(cudaStream_t stream, int threads);

  /// Writes one image into three channels, starting at the view's first. Samples without an owner
  /// are copied when it returns.
  void load(const DecodedImage& image, Precision precision, const View& to);
  /// Submits what is left of the images loaded so far.
  void finish();

  std::int64_t device_bytes() const;

 private:
  struct Slot {
    PinnedBuffer host;
    DeviceBuffer device;
    Event free;
    DecodedImage image;  // until it is copied
    Precision precision = Precision::fp32;
    View to = {};
    std::future<void> copied;
  };
  static constexpr std::size_t kSlots = 8;

  Slot& oldest() { return slots_[(next_ + kSlots - waiting_) % kSlots]; }
  void submit_oldest();

  cudaStream_t stream_;
  std::array<Slot, kSlots> slots_;
  std::size_t next_ = 0;
  std::size_t waiting_ = 0;  // images that are being copied
  CopyThreads threads_;      // last: they end before what they write to
};

}  // namespace doetune::workloads::cudnn
