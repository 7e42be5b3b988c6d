#include "workloads/engines/cudnn/picture_loader.h"

#include <cstring>

namespace doetune::workloads::cudnn {
namespace {

std::uint8_t* copy_plane(const std::uint8_t* from, int stride, int width, int height,
                         std::uint8_t* to) {
  for (int y = 0; y < height; ++y, from += stride, to += width) std::memcpy(to, from, width);
  return to;
}

}  // namespace

void PictureLoader::load(const PictureView& picture, Precision precision, const View& to) {
  PlanarPicture planar{
      nullptr,           picture.width, picture.height, picture.chroma_width, picture.chroma_height,
      picture.full_range};
  const std::int64_t bytes = luma_bytes(planar) + 2 * chroma_bytes(planar);
  Slot& slot = slots_[next_];
  next_ = (next_ + 1) % kSlots;
  slot.free.wait();
  if (slot.host.bytes() < bytes) {
    slot.host = PinnedBuffer(bytes);
    slot.device = DeviceBuffer(bytes, "a picture");
  }
  auto* at = static_cast<std::uint8_t*>(slot.host.data());
  at = copy_plane(picture.luma, picture.luma_stride, picture.width, picture.height, at);
  at = copy_plane(picture.blue, picture.chroma_stride, picture.chroma_width, picture.chroma_height,
                  at);
  copy_plane(picture.red, picture.chroma_stride, picture.chroma_width, picture.chroma_height, at);
  check(cudaMemcpyAsync(slot.device.data(), slot.host.data(), static_cast<std::size_t>(bytes),
                        cudaMemcpyHostToDevice, stream_),
        "uploading an image");
  planar.planes = static_cast<const std::uint8_t*>(slot.device.data());
  load_picture({precision, 1, stream_}, planar, to);
  slot.free.record(stream_);
}

std::int64_t PictureLoader::device_bytes() const {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots_) bytes += slot.device.bytes();
  return bytes;
}

}  // namespace doetune::workloads::cudnn
