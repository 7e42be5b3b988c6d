#include "reference.h"

#include <algorithm>
#include <limits>

#include "workloads/weights.h"

namespace doetune::workloads {
namespace {

struct Tensor {
  Shape shape;
  std::vector<double> values;  // height x width x channels

  explicit Tensor(const Shape& s) : shape(s), values(s.elements()) {}
  double& at(int c, int y, int x) {
    return values[(std::size_t(y) * shape.width + x) * shape.channels + c];
  }
  double at(int c, int y, int x) const { return const_cast<Tensor*>(this)->at(c, y, x); }
  bool inside(int y, int x) const {
    return y >= 0 && y < shape.height && x >= 0 && x < shape.width;
  }
};

template <class Value>
void fill(Tensor& out, Value value) {
  for (int y = 0; y < out.shape.height; ++y)
    for (int x = 0; x < out.shape.width; ++x)
      for (int c = 0; c < out.shape.channels; ++c) out.at(c, y, x) = value(c, y, x);
}

void apply(const Convolution& conv, const Tensor& in, const ConvolutionWeights& w, Tensor& out) {
  fill(out, [&](int f, int y, int x) {
    double sum = w.bias[f];
    for (int c = 0; c < in.shape.channels; ++c)
      for (int v = 0; v < conv.kernel; ++v)
        for (int u = 0; u < conv.kernel; ++u) {
          const int from_y = y * conv.stride + v - conv.kernel / 2;
          const int from_x = x * conv.stride + u - conv.kernel / 2;
          if (in.inside(from_y, from_x))
            sum +=
                static_cast<double>(
                    w.weights[((f * in.shape.channels + c) * conv.kernel + v) * conv.kernel + u]) *
                in.at(c, from_y, from_x);
        }
    return conv.activation == Activation::leaky && sum < 0 ? static_cast<double>(kLeakySlope) * sum
                                                           : sum;
  });
}

void apply(const MaxPool& pool, const Tensor& in, Tensor& out) {
  fill(out, [&](int c, int y, int x) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int v = 0; v < pool.kernel; ++v)
      for (int u = 0; u < pool.kernel; ++u)
        if (in.inside(y * pool.stride + v, x * pool.stride + u))
          largest = std::max(largest, in.at(c, y * pool.stride + v, x * pool.stride + u));
    return largest;
  });
}

void apply(const Reorg& reorg, const Tensor& in, Tensor& out) {
  // Both sides in channels x height x width order, as reorg_source counts.
  const auto read = [&](std::int64_t i) {
    const int plane = in.shape.height * in.shape.width;
    return in.at(static_cast<int>(i / plane), static_cast<int>(i % plane) / in.shape.width,
                 static_cast<int>(i % plane) % in.shape.width);
  };
  fill(out, [&](int c, int y, int x) {
    const std::int64_t index = (std::int64_t{c} * out.shape.height + y) * out.shape.width + x;
    return read(reorg_source(in.shape, reorg.stride, index));
  });
}

void join(const std::vector<const Tensor*>& inputs, Tensor& out) {
  int first = 0;
  for (const Tensor* in : inputs) {
    for (int y = 0; y < in->shape.height; ++y)
      for (int x = 0; x < in->shape.width; ++x)
        for (int c = 0; c < in->shape.channels; ++c) out.at(first + c, y, x) = in->at(c, y, x);
    first += in->shape.channels;
  }
}

}  // namespace

std::vector<double> reference_infer(const Network& network, std::span<const float> weights,
                                    std::span<const float> image) {
  Tensor input(network.input);
  std::ranges::copy(image, input.values.begin());
  std::vector<Tensor> outputs;
  for (int i = 0; i < static_cast<int>(network.layers.size()); ++i) {
    const Layer& layer = network.layers[i];
    std::vector<const Tensor*> in;
    for (const int from : layer.inputs)
      in.push_back(from == kNetworkInput ? &input : &outputs[from]);
    Tensor out(layer.output);
    if (const auto* conv = std::get_if<Convolution>(&layer.op))
      apply(*conv, *in[0], convolution_weights(network, weights, i), out);
    else if (const auto* pool = std::get_if<MaxPool>(&layer.op))
      apply(*pool, *in[0], out);
    else if (const auto* reorg = std::get_if<Reorg>(&layer.op))
      apply(*reorg, *in[0], out);
    else
      join(in, out);
    outputs.push_back(std::move(out));
  }
  return outputs.back().values;
}

}  // namespace doetune::workloads
