// Decoding on a GPU's hardware decoder (NVDEC), through libavcodec. Internal to this folder.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/infeasible.h"
#include "workloads/video/libav.h"

namespace doetune::workloads::libav {

/// The hardware decoder of a codec, or nullptr where this libavcodec has none.
const AVCodec* gpu_decoder(AVCodecID codec);

/// Makes an unopened context decode on a GPU, numbered among those visible to this process. Throws
/// Infeasible, with the reason, where there is none or the driver lacks NVDEC.
void decode_on_gpu(AVCodecContext& context, int gpu);

/// Whether decoding on the GPU was tried and failed: codec, profile or size is not supported.
bool gpu_refused(const AVCodecContext& context);

/// The frame's image in host memory, in planes (4:2:0, 8 bits). Throws VideoError.
Owner<AVFrame> host_image(const AVFrame& frame);

/// Splits interleaved (Cb, Cr) samples, `height` rows of `width`, into planes; strides in bytes.
void split_chroma(const std::uint8_t* pairs, std::ptrdiff_t pair_stride, std::uint8_t* blue,
                  std::uint8_t* red, std::ptrdiff_t stride, int width, int height);

}  // namespace doetune::workloads::libav
