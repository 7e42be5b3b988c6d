// Our own kernels, for what cuDNN has no (good) graph of. Tensors are NHWC; where a view's channels
// are read sixteen bytes at a time, its address, channels and pitch are multiples of that. All put
// their work on the stream and return; they throw CannotRun for a tensor of some 2^32 elements
// (or groups of them) or more.
#pragma once

#include <cuda_runtime_api.h>

#include "workloads/engines/cudnn/indexing.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::cudnn {

/// Where and how a kernel runs.
struct Launch {
  Precision precision;
  int images;
  cudaStream_t stream;
};

/// Dense floats (images x height x width x `channels`) into the first channels of a tensor.
void write_input(const Launch& launch, const float* from, int channels, const View& to);
/// The first `channels` of a tensor as dense floats.
void read_output(const Launch& launch, const View& from, int channels, float* to);
/// One image, scaled to the view, into three channels from the view's first on.
void load_image(const Launch& launch, const PlanarImage& image, const View& to);

void max_pool(const Launch& launch, const MaxPool& pool, const View& from, const View& to);
void average_pool(const Launch& launch, const AveragePool& pool, const View& from, const View& to);
void local_response_norm(const Launch& launch, const LocalResponseNorm& norm, const View& from,
                         const View& to);
/// to = activation(left + right); without a `right` (null) only activated. In place where `to` is
/// `left` or `right`.
void add_and_activate(const Launch& launch, Activation activation, const View& left,
                      const View& right, const View& to);
void upsample(const Launch& launch, const Upsample& op, const View& from, const View& to);
/// Of the first `channels`; channels of `to` after its first get zeros.
void channel_arg_max(const Launch& launch, int channels, const View& from, const View& to);
/// `input` is the shape without rounded channels.
void reorg(const Launch& launch, const Reorg& op, const Shape& input, const View& from,
           const View& to);
/// The first `channels` of `from` into `to`, whose further channels get zeros. No alignment.
void copy_channels(const Launch& launch, int channels, const View& from, const View& to);

/// Boxes at or above the threshold of each image, in any order. `output` is dense; `anchors` holds
/// width and height of each; an image has room for rows x columns x anchors boxes, and `counts`
/// tells how many are there.
void find_boxes(const Launch& launch, const BoxGrid& grid, const float* output,
                const float* anchors, CandidateBox* boxes, int* counts);

/// Different numbers in +-1, so that timings are not of zeros (which take less power).
void fill_with_numbers(const Launch& launch, void* data, std::int64_t count);

}  // namespace doetune::workloads::cudnn
