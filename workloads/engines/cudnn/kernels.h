// Our own kernels, for operations of which cuDNN has no graph or only slow ones. Tensors are NHWC;
// where a view's channels are read 16 bytes at a time, its address, channels and pitch are
// multiples of that. All submit their work to the stream and return; they throw CannotRun for
// tensors of about 2^32 or more elements (or groups of them).
#pragma once

#include <cuda_runtime_api.h>

#include "workloads/engines/cudnn/indexing.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::cudnn {

/// The precision, images and stream of a launch.
struct Launch {
  Precision precision;
  int images;
  cudaStream_t stream;
};

/// Dense floats (images x height x width x `channels`) into the first channels of a tensor.
void write_input(const Launch& launch, const float* from, int channels, const View& to);
/// The first `channels` of a tensor as dense floats.
void read_output(const Launch& launch, const View& from, int channels, float* to);
/// One image, scaled to the view, into three channels starting at the view's first.
void load_image(const Launch& launch, const PlanarImage& image, const View& to);

void max_pool(const Launch& launch, const MaxPool& pool, const View& from, const View& to);
void average_pool(const Launch& launch, const AveragePool& pool, const View& from, const View& to);
void local_response_norm(const Launch& launch, const LocalResponseNorm& norm, const View& from,
                         const View& to);
/// to = activation(left + right); without `right` (null) only the activation. `to` may be `left` or
/// `right`.
void add_and_activate(const Launch& launch, Activation activation, const View& left,
                      const View& right, const View& to);
void upsample(const Launch& launch, const Upsample& op, const View& from, const View& to);
/// The arg max over the first `channels`; channels of `to` after its first get zeros.
void channel_arg_max(const Launch& launch, int channels, const View& from, const View& to);
/// `input` is the shape without padding channels.
void reorg(const Launch& launch, const Reorg& op, const Shape& input, const View& from,
           const View& to);
/// The first `channels` of `from` into `to`, whose further channels get zeros. No alignment needed.
void copy_channels(const Launch& launch, int channels, const View& from, const View& to);

/// The boxes of each image at or above the threshold, in arbitrary order. `output` is dense;
/// `anchors` holds the width and height of each; `boxes` holds up to rows x columns x anchors boxes
/// per image, and `counts` gets their numbers.
void find_boxes(const Launch& launch, const BoxGrid& grid, const float* output,
                const float* anchors, CandidateBox* boxes, int* counts);

/// Varied numbers in +-1, since zeros draw less power and so distort timings.
void fill_with_numbers(const Launch& launch, void* data, std::int64_t count);

}  // namespace doetune::workloads::cudnn
