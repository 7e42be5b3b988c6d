#include "workloads/engines/cudnn/image_loader.h"

#include <cstring>

namespace doetune::workloads::cudnn {
namespace {

std::uint8_t* copy_plane(const std::uint8_t* from, int stride, int width, int height,
                         std::uint8_t* to) {
  for (int y = 0; y < height; ++y, from += stride, to += width) std::memcpy(to, from, width);
  return to;
}

}  // namespace

void ImageLoader::load(const YcbcrView& image, Precision precision, const View& to) {
  PlanarImage planar{
      nullptr,         image.width, image.height, image.chroma_width, image.chroma_height,
      image.full_range};
  const std::int64_t bytes = luma_bytes(planar) + 2 * chroma_bytes(planar);
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % kSlots;
  slot.free.wait();
  if (slot.host.bytes() < bytes) {
    slot.host = PinnedBuffer(bytes);
    slot.device = DeviceBuffer(bytes, "an image");
  }
  auto* at = static_cast<std::uint8_t*>(slot.host.data());
  at = copy_plane(image.luma, image.luma_stride, image.width, image.height, at);
  at = copy_plane(image.blue, image.chroma_stride, image.chroma_width, image.chroma_height, at);
  copy_plane(image.red, image.chroma_stride, image.chroma_width, image.chroma_height, at);
  check(cudaMemcpyAsync(slot.device.data(), slot.host.data(), static_cast<std::size_t>(bytes),
                        cudaMemcpyHostToDevice, stream_),
        "uploading an image");
  planar.planes = static_cast<const std::uint8_t*>(slot.device.data());
  load_image({precision, 1, stream_}, planar, to);
  slot.free.record(stream_);
}

std::int64_t ImageLoader::device_bytes() const {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots_) bytes += slot.device.bytes();
  return bytes;
}

}  // namespace doetune::workloads::cudnn
