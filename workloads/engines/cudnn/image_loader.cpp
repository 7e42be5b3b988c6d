#include "workloads/engines/cudnn/image_loader.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace doetune::workloads::cudnn {
namespace {

constexpr int kMaxThreads = 4;  // enough for the connection

std::uint8_t* copy_plane(const std::uint8_t* from, int stride, int width, int height,
                         std::uint8_t* to) {
  for (int y = 0; y < height; ++y, from += stride, to += width) std::memcpy(to, from, width);
  return to;
}

void copy_planes(const YcbcrView& image, std::uint8_t* to) {
  to = copy_plane(image.luma, image.luma_stride, image.width, image.height, to);
  to = copy_plane(image.blue, image.chroma_stride, image.chroma_width, image.chroma_height, to);
  copy_plane(image.red, image.chroma_stride, image.chroma_width, image.chroma_height, to);
}

PlanarImage planar(const YcbcrView& image, const void* planes) {
  return {static_cast<const std::uint8_t*>(planes),
          image.width,
          image.height,
          image.chroma_width,
          image.chroma_height,
          image.full_range};
}

std::int64_t bytes_of(const YcbcrView& image) {
  const PlanarImage sizes = planar(image, nullptr);
  return luma_bytes(sizes) + 2 * chroma_bytes(sizes);
}

}  // namespace

ImageLoader::ImageLoader(cudaStream_t stream, int threads)
    : stream_(stream), threads_(threads == 1 ? 0 : std::min(threads, kMaxThreads)) {}

void ImageLoader::load(const DecodedImage& image, Precision precision, const View& to) {
  if (waiting_ == kSlots) submit_oldest();
  Slot& slot = slots_[next_];
  slot.free.wait();
  if (const std::int64_t bytes = bytes_of(image.view); slot.host.bytes() < bytes) {
    slot.device = DeviceBuffer(bytes, "an image");
    slot.host = PinnedBuffer(bytes);  // last: its size says that both are there
  }
  slot.image = image;
  slot.precision = precision;
  slot.to = to;
  slot.copied = threads_.start(
      [view = image.view, to = slot.host.as<std::uint8_t>().data()] { copy_planes(view, to); });
  next_ = (next_ + 1) % kSlots;
  ++waiting_;
  if (!image.samples) finish();
  while (waiting_ > 0 &&
         oldest().copied.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
    submit_oldest();
}

void ImageLoader::submit_oldest() {
  Slot& slot = oldest();
  slot.copied.get();
  --waiting_;
  const YcbcrView& view = slot.image.view;
  check(cudaMemcpyAsync(slot.device.data(), slot.host.data(),
                        static_cast<std::size_t>(bytes_of(view)), cudaMemcpyHostToDevice, stream_),
        "uploading an image");
  load_image({slot.precision, 1, stream_}, planar(view, slot.device.data()), slot.to);
  slot.free.record(stream_);
  slot.image = {};
}

void ImageLoader::finish() {
  while (waiting_ > 0) submit_oldest();
}

std::int64_t ImageLoader::device_bytes() const {
  std::int64_t bytes = 0;
  for (const Slot& slot : slots_) bytes += slot.device.bytes();
  return bytes;
}

}  // namespace doetune::workloads::cudnn
