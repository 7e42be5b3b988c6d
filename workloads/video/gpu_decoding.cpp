#include "workloads/video/gpu_decoding.h"

#include <fmt/format.h>

#include <dlfcn.h>

// The CUDA declarations that FFmpeg's header needs, since CUDA's headers may be missing.
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
#define CUDA_VERSION 0

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
#include <libavutil/imgutils.h>
}

namespace doetune::workloads::libav {
namespace {

bool hands_work_to_cuda(const AVCodec& decoder) {
  for (int i = 0; const AVCodecHWConfig* way = avcodec_get_hw_config(&decoder, i); ++i)
    if (way->device_type == AV_HWDEVICE_TYPE_CUDA &&
        (way->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX) != 0)
      return true;
  return false;
}

/// libavcodec offers its output formats in order of preference, and again without the GPU if that
/// could not be initialised.
AVPixelFormat choose_gpu(AVCodecContext*, const AVPixelFormat* offered) {
  while (*offered != AV_PIX_FMT_NONE && *offered != AV_PIX_FMT_CUDA) ++offered;
  return *offered;
}

/// The primary context, in which an executor of this process computes. FFmpeg would create its own,
/// or refuse the existing one for its flags. It lives as long as the process.
CUcontext primary_context(int gpu) {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) throw Infeasible("video cannot be decoded on a GPU: no NVIDIA driver");
  const auto call = [&](const char* name, auto... arguments) {
    const auto function = reinterpret_cast<int (*)(decltype(arguments)...)>(::dlsym(driver, name));
    if (const int code = function == nullptr ? -1 : function(arguments...); code != 0)
      throw Infeasible(
          fmt::format("video cannot be decoded on GPU {}: {} says {}", gpu, name, code));
  };
  int device = 0;
  CUcontext context = nullptr;
  call("cuInit", 0U);
  call("cuDeviceGet", &device, gpu);
  call("cuDevicePrimaryCtxRetain", &context, device);
  return context;
}

}  // namespace

const AVCodec* gpu_decoder(AVCodecID codec) {
  void* iterator = nullptr;
  while (const AVCodec* decoder = av_codec_iterate(&iterator))
    if (decoder->id == codec && av_codec_is_decoder(decoder) != 0 && hands_work_to_cuda(*decoder))
      return decoder;
  return nullptr;
}

void decode_on_gpu(AVCodecContext& context, int gpu) {
  AVBufferRef* device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA);
  if (device == nullptr) throw Infeasible("this libavcodec cannot decode video on a GPU");
  context.hw_device_ctx = device;
  auto* made = reinterpret_cast<AVHWDeviceContext*>(device->data);
  static_cast<AVCUDADeviceContext*>(made->hwctx)->cuda_ctx = primary_context(gpu);
  if (const int code = av_hwdevice_ctx_init(device); code < 0)
    throw Infeasible(fmt::format(
        "GPU {} cannot decode video: is libnvcuvid of its driver there? ({})", gpu, reason(code)));
  context.get_format = choose_gpu;
}

bool gpu_refused(const AVCodecContext& context) {
  return context.get_format == choose_gpu && context.pix_fmt != AV_PIX_FMT_CUDA;
}

Owner<AVFrame> host_image(const AVFrame& frame) {
  const auto fetched = owned(av_frame_alloc());
  fetched->format = AV_PIX_FMT_NV12;
  check(av_hwframe_transfer_data(fetched.get(), &frame, 0), "cannot copy an image from the GPU");
  auto planes = owned(av_frame_alloc());
  planes->format = AV_PIX_FMT_YUV420P;
  planes->width = frame.width;
  planes->height = frame.height;
  check(av_frame_get_buffer(planes.get(), 0), "cannot copy an image from the GPU");
  check(av_frame_copy_props(planes.get(), &frame), "cannot copy an image from the GPU");
  av_image_copy_plane(planes->data[0], planes->linesize[0], fetched->data[0], fetched->linesize[0],
                      frame.width, frame.height);
  split_chroma(fetched->data[1], fetched->linesize[1], planes->data[1], planes->data[2],
               planes->linesize[1], (frame.width + 1) / 2, (frame.height + 1) / 2);
  return planes;
}

void split_chroma(const std::uint8_t* pairs, std::ptrdiff_t pair_stride, std::uint8_t* blue,
                  std::uint8_t* red, std::ptrdiff_t stride, int width, int height) {
  for (int y = 0; y < height; ++y, pairs += pair_stride, blue += stride, red += stride)
    for (int x = 0; x < width; ++x) {
      blue[x] = pairs[2 * x];
      red[x] = pairs[2 * x + 1];
    }
}

}  // namespace doetune::workloads::libav
