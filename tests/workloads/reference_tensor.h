// Building blocks of the training reference: tensors of a batch and batch normalisation, in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/networks/parameters.h"

namespace doetune::workloads {

struct Tensor {
  int images = 0;
  Shape shape;
  std::vector<double> values;  // images x height x width x channels

  Tensor() = default;
  Tensor(int n, const Shape& s) : images(n), shape(s), values(n * s.elements()) {}
  double& at(int n, int c, int y, int x) {
    return values[((std::size_t(n) * shape.height + y) * shape.width + x) * shape.channels + c];
  }
  double at(int n, int c, int y, int x) const { return const_cast<Tensor*>(this)->at(n, c, y, x); }
  bool inside(int y, int x) const {
    return y >= 0 && y < shape.height && x >= 0 && x < shape.width;
  }
  std::int64_t pixels() const { return std::int64_t{images} * shape.height * shape.width; }
};

/// Calls visit(n, c, y, x) for every element.
template <class Visit>
void for_each(const Tensor& tensor, Visit visit) {
  for (int n = 0; n < tensor.images; ++n)
    for (int y = 0; y < tensor.shape.height; ++y)
      for (int x = 0; x < tensor.shape.width; ++x)
        for (int c = 0; c < tensor.shape.channels; ++c) visit(n, c, y, x);
}

/// Calls visit(from_y, from_x, v, u) for every element of the window of (y, x) inside the tensor.
template <class Visit>
void for_window(const Tensor& in, int y, int x, Extent kernel, int stride, Extent pad,
                Visit visit) {
  for (int v = 0; v < kernel.height; ++v)
    for (int u = 0; u < kernel.width; ++u) {
      const int from_y = y * stride + v - pad.height;
      const int from_x = x * stride + u - pad.width;
      if (in.inside(from_y, from_x)) visit(from_y, from_x, v, u);
    }
}

/// The parameters of a convolution, or the gradients with respect to them.
template <class T>
struct Parameters {
  std::span<T> weights;
  std::span<T> scale;  // with batch normalisation
  std::span<T> shift;  // or bias
};

template <class T>
std::vector<Parameters<T>> by_layer(const Network& network, std::span<T> block) {
  std::vector<Parameters<T>> result(network.layers.size());
  for (const ParameterTensor& tensor : parameter_layout(network)) {
    const auto values = block.subspan(tensor.offset, tensor.count);
    Parameters<T>& parameters = result[tensor.layer];
    (tensor.kind == ParameterKind::weights ? parameters.weights
     : tensor.kind == ParameterKind::scale ? parameters.scale
                                           : parameters.shift) = values;
  }
  return result;
}

/// Calls visit(n, f, y, x, c, from_y, from_x, weight index) for every product of a convolution.
template <class Visit>
void for_products(const Convolution& conv, const Tensor& in, const Tensor& out, Visit visit) {
  const int rows = conv.kernel.height, columns = conv.kernel.width;
  for_each(out, [&](int n, int f, int y, int x) {
    for_window(in, y, x, conv.kernel, conv.stride, conv.pad, [&](int fy, int fx, int v, int u) {
      for (int c = 0; c < in.shape.channels; ++c)
        visit(n, f, y, x, c, fy, fx,
              (std::size_t(f * in.shape.channels + c) * rows + v) * columns + u);
    });
  });
}

/// Ioffe & Szegedy (2015), algorithm 1 and the gradients below it.
struct Normalisation {
  std::vector<double> mean;
  std::vector<double> variance;
  Tensor normal;  // (x - mean) / sqrt(variance + epsilon)

  explicit Normalisation(const Tensor& x)
      : mean(x.shape.channels), variance(x.shape.channels), normal(x) {}

  void take_batch_statistics() {
    const auto count = static_cast<double>(normal.pixels());
    for_each(normal, [&](int n, int c, int y, int x) { mean[c] += normal.at(n, c, y, x) / count; });
    for_each(normal, [&](int n, int c, int y, int x) {
      const double d = normal.at(n, c, y, x) - mean[c];
      variance[c] += d * d / count;
    });
  }
  double deviation(int c) const { return std::sqrt(variance[c] + double{kBatchNormEpsilon}); }
  void normalise() {
    for_each(normal, [&](int n, int c, int y, int x) {
      normal.at(n, c, y, x) = (normal.at(n, c, y, x) - mean[c]) / deviation(c);
    });
  }
  void back(Tensor& d, std::span<const double> scale, const Parameters<double>& gradient) const {
    for_each(d, [&](int n, int c, int y, int x) {
      gradient.shift[c] += d.at(n, c, y, x);
      gradient.scale[c] += d.at(n, c, y, x) * normal.at(n, c, y, x);
    });
    const auto count = static_cast<double>(d.pixels());
    for_each(d, [&](int n, int c, int y, int x) {
      const double centred = d.at(n, c, y, x) - gradient.shift[c] / count -
                             normal.at(n, c, y, x) * gradient.scale[c] / count;
      d.at(n, c, y, x) = scale[c] / deviation(c) * centred;
    });
  }
};

inline void activate(Activation activation, Tensor& tensor) {
  for (double& value : tensor.values)
    if (value < 0) value *= static_cast<double>(negative_slope(activation));
}

/// `out` is the result of activate: of the same sign as its input, or zero below a ReLU.
inline Tensor activation_back(Activation activation, const Tensor& out, Tensor gradient) {
  for (std::size_t i = 0; i < out.values.size(); ++i)
    if (out.values[i] <= 0) gradient.values[i] *= static_cast<double>(negative_slope(activation));
  return gradient;
}

}  // namespace doetune::workloads
