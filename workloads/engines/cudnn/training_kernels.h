// Our own kernels of a training step, for operations of which cuDNN has no engine, or only ones
// compiled at run time (batch normalisation, backward pooling: half a second for each size).
// Results are reproducible: sums are formed in a fixed order, without atomic operations. Tensors as
// in kernels.h; a null View or pointer stands for an absent argument.
#pragma once

#include "workloads/engines/cudnn/kernels.h"
#include "workloads/engines/cudnn/training_arithmetic.h"

namespace doetune::workloads::cudnn {

// -- batch normalisation and bias -----------------------------------------------------------------

/// Floats of scratch memory for the sums over all pixels of a tensor.
std::int64_t partial_sums(const Launch& launch, const View& tensor);

/// A batch-normalised convolution with `filters` filters, in device memory.
struct NormLayer {
  int filters;
  const float* scale;
  const float* shift;
  float* running;  // means, then variances
  Normalisation* channels;
};

/// Computes the batch's statistics of x into `channels` and, with a momentum above 0, updates the
/// running ones.
void take_statistics(const Launch& launch, const NormLayer& layer, float momentum, const View& x,
                     float* scratch);
/// Loads the running statistics into the `count` channels.
void use_running_statistics(const Launch& launch, const NormLayer& layer, int count);
/// to = activation(normalised x + residual)
void normalise(const Launch& launch, const Normalisation* channels, Activation activation,
               const View& x, const View& residual, const View& to);
/// `gradient` is with respect to the activated result; the input of the activation is recomputed
/// from x. Writes the gradients with respect to scale and shift into the two arrays, and the one
/// with respect to x to `to`. `scratch` holds partial_sums + 2 x.channels floats.
void normalise_back(const Launch& launch, const NormLayer& layer, Activation activation,
                    const View& gradient, const View& x, float* scale_gradient,
                    float* shift_gradient, float* scratch, const View& to);
/// The gradient with respect to the bias and, where `to` is given, to the input of the activation;
/// `out` is the result, needed for any activation but linear.
void bias_back(const Launch& launch, Activation activation, int filters, const View& gradient,
               const View& out, float* bias_gradient, float* scratch, const View& to);

// -- other layers ---------------------------------------------------------------------------------
// A gradient is written to `to`, or added to its contents.

enum class Write { set, add };

/// Also records which element of each window was the largest, one byte per element of `to`.
void max_pool_keeping(const Launch& launch, const MaxPool& pool, const View& from, const View& to,
                      std::uint8_t* positions);
/// The maximum height and width of such windows, since the index is one byte.
inline constexpr int kMaxKeptWindow = 15;
void max_pool_back(const Launch& launch, const MaxPool& pool, const View& gradient,
                   const std::uint8_t* positions, Write write, const View& to);
void average_pool_back(const Launch& launch, const AveragePool& pool, const View& gradient,
                       Write write, const View& to);
void local_response_norm_back(const Launch& launch, const LocalResponseNorm& norm, const View& from,
                              const View& gradient, Write write, const View& to);
/// The gradient with respect to the input of the activation whose result is `out` (null: no
/// activation); `to` may be `gradient`.
void pass_back(const Launch& launch, Activation activation, const View& gradient, const View& out,
               Write write, const View& to);
/// The first `channels` of `gradient`; further channels of `to` get zeros. No alignment needed.
void pass_channels_back(const Launch& launch, int channels, const View& gradient, Write write,
                        const View& to);

/// The random factors of a layer's input, element by element; see dropout.h.
struct Dropout {
  std::uint64_t seed;
  const std::int64_t* step;  // in device memory
  int layer;
  std::int64_t first_image;
  float probability;
};
/// Applies dropout to a layer's input, or to the gradient on the way back. `input` is the shape
/// without padding channels; further channels of `to` get zeros. No alignment needed.
void drop(const Launch& launch, const Dropout& dropout, const Shape& input, const View& from,
          Write write, const View& to);

/// For each image its softmax cross-entropy, -log p(label), and whether the label has the largest
/// logit. The gradient of the mean over images goes into `gradient`, if given, with zeros in the
/// channels beyond the classes.
void softmax_cross_entropy(const Launch& launch, int classes, const View& logits,
                           const std::int32_t* labels, float* losses, std::int32_t* correct,
                           const View& gradient);

}  // namespace doetune::workloads::cudnn
