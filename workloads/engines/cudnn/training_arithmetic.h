// The arithmetic of the training kernels, for host and device alike, as in indexing.h. Sums and
// products that must agree bitwise between two kernels use fmaf, so that the compiler cannot
// contract them differently.
#pragma once

#include <cmath>
#include <cstdint>

#include "workloads/engines/cudnn/indexing.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::cudnn {

/// The derivative of an activation, from its result `out`, which has the sign of its input.
DOETUNE_DEVICE float activation_slope(float out, float negative_slope) {
  return out > 0.0F ? 1.0F : negative_slope;
}

// -- pooling --------------------------------------------------------------------------------------

/// The windows that contain input `at`: outputs [begin, end) of `outputs`; the transpose of
/// window().
DOETUNE_DEVICE Range windows_over(int at, int kernel, int stride, int pad, int outputs) {
  const int first = at + pad - kernel + 1;
  const int begin = first <= 0 ? 0 : (first + stride - 1) / stride;
  const int end = (at + pad) / stride + 1;
  return {begin, end > outputs ? outputs : end};
}

/// An input's index in the window of output (out_y, out_x), row by row.
DOETUNE_DEVICE int position_in_window(const MaxPool& pool, int y, int x, int out_y, int out_x) {
  return (y - (out_y * pool.stride - pool.pad_before)) * pool.kernel +
         (x - (out_x * pool.stride - pool.pad_before));
}

// -- local response normalisation -----------------------------------------------------------------

/// bias + alpha / size sum of squares of a channel's neighbours; value(c) is the pixel's channel c.
template <class Value>
DOETUNE_DEVICE float neighbourhood(const LocalResponseNorm& norm, int channel, int channels,
                                   Value value) {
  const Range near = window(channel, norm.size, 1, norm.size / 2, channels);
  float squares = 0;
  for (int c = near.begin; c < near.end; ++c) squares += value(c) * value(c);
  return norm.bias + norm.alpha / static_cast<float>(norm.size) * squares;
}

/// The gradient with respect to a channel of the input, from those with respect to the outputs,
/// gradient(c).
template <class Value, class Gradient>
DOETUNE_DEVICE float response_gradient(const LocalResponseNorm& norm, int channel, int channels,
                                       Value value, Gradient gradient) {
  const Range near = window(channel, norm.size, 1, norm.size / 2, channels);
  float sum = 0;
  float own = 0;
  for (int c = near.begin; c < near.end; ++c) {
    const float base = neighbourhood(norm, c, channels, value);
    const float power = powf(base, -norm.beta);
    if (c == channel) own = gradient(c) * power;
    sum += gradient(c) * value(c) * power / base;
  }
  const float factor = 2.0F * norm.alpha * norm.beta / static_cast<float>(norm.size);
  return own - factor * value(channel) * sum;
}

// -- dropout --------------------------------------------------------------------------------------

/// The index of dropout_factor (dropout.h) for an element of the layer's input.
DOETUNE_DEVICE std::uint64_t dropout_index(std::int64_t first_image, const Shape& input,
                                           const Position& at) {
  const std::int64_t row = (first_image + at.image) * input.height + at.y;
  return static_cast<std::uint64_t>((row * input.width + at.x) * input.channels + at.channel);
}

// -- batch normalisation --------------------------------------------------------------------------

/// Sums of x - origin and of its square. An origin near the values avoids the cancellation of the
/// plain sums where the mean is far from zero.
struct ShiftedSums {
  float first = 0;
  float second = 0;
};
DOETUNE_DEVICE void add_value(ShiftedSums& sums, float x, float origin) {
  const float d = x - origin;
  sums.first += d;
  sums.second = fmaf(d, d, sums.second);
}

struct MeanVariance {
  float mean;
  float variance;  // with n in the denominator
};
DOETUNE_DEVICE MeanVariance moments(double first, double second, float origin, double count) {
  const double mean = first / count;
  const double variance = second / count - mean * mean;
  return {static_cast<float>(static_cast<double>(origin) + mean),
          static_cast<float>(variance < 0 ? 0 : variance)};
}

/// r + momentum (batch's - r); the variance with n - 1 in the denominator.
DOETUNE_DEVICE float running_statistic(float running, float of_batch, float momentum) {
  return running + momentum * (of_batch - running);
}
DOETUNE_DEVICE float unbiased(float variance, double count) {
  return static_cast<float>(static_cast<double>(variance) * count / (count > 1 ? count - 1 : 1));
}

/// The normalisation of one channel. All zero for a padding channel.
struct alignas(16) Normalisation {
  float mean = 0;
  float inverse = 0;  // 1 / sqrt(variance + epsilon)
  float factor = 0;   // scale inverse
  float shift = 0;
};
DOETUNE_DEVICE Normalisation normalisation(const MeanVariance& of, float epsilon, float scale,
                                           float shift) {
  const float inverse = 1.0F / sqrtf(of.variance + epsilon);
  return {of.mean, inverse, scale * inverse, shift};
}
/// The normalised value, before the activation.
DOETUNE_DEVICE float normalised(const Normalisation& by, float x) {
  return fmaf(x - by.mean, by.factor, by.shift);
}

/// Sums over the values of a channel: of the gradient, which is the one with respect to the shift,
/// and of the gradient times x - mean, which becomes the one with respect to the scale when it is
/// multiplied by `inverse`. That is done once, so that a thread needs fewer registers.
struct alignas(8) NormGradients {
  float shift = 0;
  float scale = 0;
};
/// `gradient` is with respect to the result before the activation.
DOETUNE_DEVICE void add_gradient(NormGradients& sums, const Normalisation& by, float x,
                                 float gradient) {
  sums.shift += gradient;
  sums.scale = fmaf(gradient, x - by.mean, sums.scale);
}
/// What input_gradient needs of the two sums over `count` values.
DOETUNE_DEVICE NormGradients gradient_means(const Normalisation& by, double shift, double scale,
                                            double count) {
  const double inverse = static_cast<double>(by.inverse);
  return {static_cast<float>(shift / count), static_cast<float>(scale * inverse * inverse / count)};
}
/// The gradient with respect to x. Source: Ioffe & Szegedy (2015), below algorithm 1.
DOETUNE_DEVICE float input_gradient(const Normalisation& by, const NormGradients& means, float x,
                                    float gradient) {
  return by.factor * (gradient - means.shift - (x - by.mean) * means.scale);
}

// -- learning -------------------------------------------------------------------------------------

/// One parameter tensor. On the GPU its block holds weights channels last (filters x height x width
/// x inputs); the copy that convolutions read is in the type of the precision, with the inputs
/// padded.
struct TrainedTensor {
  std::int64_t offset;  // into the blocks
  std::int64_t count;
  std::int64_t packed;  // its offset in the packed copy, in elements; -1 where it has none
  int inputs;           // of weights; other tensors have count, padded count and a window of 1
  int padded_inputs;
  int window;  // kernel height x width
  bool weights;
};

/// The index of element i of the channels-last tensor in the packed copy.
DOETUNE_DEVICE std::int64_t packed_index(const TrainedTensor& tensor, std::int64_t i) {
  return tensor.packed + i / tensor.inputs * tensor.padded_inputs + i % tensor.inputs;
}
/// The index of element i of the layout of parameters.h (filters x inputs x height x width) in the
/// channels-last tensor.
DOETUNE_DEVICE std::int64_t channels_last_index(const TrainedTensor& tensor, std::int64_t i) {
  const std::int64_t of_filter = std::int64_t{tensor.inputs} * tensor.window;
  const std::int64_t at = i % of_filter;
  return i - at + at % tensor.window * tensor.inputs + at / tensor.window;
}

struct Sgd {
  float learning_rate;
  float momentum;
  float weight_decay;
};
DOETUNE_DEVICE void sgd_step(const Sgd& sgd, bool decays, float gradient, float& momentum,
                             float& parameter) {
  const float decay = decays ? sgd.weight_decay : 0.0F;
  momentum = sgd.momentum * momentum + (gradient + decay * parameter);
  parameter -= sgd.learning_rate * momentum;
}

// -- softmax --------------------------------------------------------------------------------------

/// The largest logit, and its class: the first of ties.
struct Largest {
  float value;
  int index;
};
DOETUNE_DEVICE Largest larger(const Largest& a, const Largest& b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}
/// The gradient of the mean loss with respect to a logit; `sum` is that of all exp(logit -
/// largest).
DOETUNE_DEVICE float logit_gradient(float logit, float largest, double sum, bool is_label,
                                    int images) {
  const auto probability = static_cast<float>(static_cast<double>(expf(logit - largest)) / sum);
  return (probability - (is_label ? 1.0F : 0.0F)) / static_cast<float>(images);
}
/// -log p(label); in double, since a float would lose a small loss relative to 1.
DOETUNE_DEVICE float cross_entropy(float logit, float largest, double sum) {
  return static_cast<float>(log(sum) + static_cast<double>(largest) - static_cast<double>(logit));
}

}  // namespace doetune::workloads::cudnn
