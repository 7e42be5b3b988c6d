// Decoding by a GPU's own decoder (NVDEC), through libavcodec. For the sources of this folder
// alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "workloads/infeasible.h"
#include "workloads/video/libav.h"

namespace doetune::workloads::libav {

/// The decoder of a codec that hands its work to a GPU, or nullptr where this libavcodec has none.
const AVCodec* gpu_decoder(AVCodecID codec);

/// Has a context that is not yet open decode on a GPU, numbered among those that this process sees.
/// Throws Infeasible, with the reason, where there is none or the driver lacks NVDEC.
void decode_on_gpu(AVCodecContext& context, int gpu);

/// Whether the GPU was asked to decode and could not: the codec, profile or size is none of its.
bool gpu_refused(const AVCodecContext& context);

/// The frame's image in the host's memory, in planes (4:2:0, 8 bits). Throws VideoError.
Owner<AVFrame> host_image(const AVFrame& frame);

/// Pairs (Cb, Cr) of `height` rows of `width` apart into planes of their own; strides in bytes.
void split_chroma(const std::uint8_t* pairs, std::ptrdiff_t pair_stride, std::uint8_t* blue,
                  std::uint8_t* red, std::ptrdiff_t stride, int width, int height);

}  // namespace doetune::workloads::libav
