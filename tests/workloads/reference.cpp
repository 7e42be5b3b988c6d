#include "reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "workloads/networks/weights.h"

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

double activated(Activation activation, double x) {
  return x < 0 ? static_cast<double>(negative_slope(activation)) * x : x;
}

/// Weights as kernel height x kernel width x inputs x filters, so that the innermost loop below is
/// over contiguous memory.
std::vector<float> filters_innermost(const Convolution& conv, int channels,
                                     std::span<const float> weights) {
  const int fan_in = channels * conv.kernel.height * conv.kernel.width;
  const int area = conv.kernel.height * conv.kernel.width;
  std::vector<float> result(weights.size());
  for (int f = 0; f < conv.filters; ++f)
    for (int c = 0; c < channels; ++c)
      for (int tap = 0; tap < area; ++tap)
        result[(std::size_t(tap) * channels + c) * conv.filters + f] =
            weights[std::size_t(f) * fan_in + c * area + tap];
  return result;
}

void apply(const Convolution& conv, const Tensor& in, const ConvolutionWeights& w, Tensor& out) {
  const auto [rows, columns] = conv.kernel;
  const std::vector<float> weights = filters_innermost(conv, in.shape.channels, w.weights);
  std::vector<double> sums(conv.filters);
  for (int y = 0; y < out.shape.height; ++y)
    for (int x = 0; x < out.shape.width; ++x) {
      std::ranges::copy(w.bias, sums.begin());
      for (int v = 0; v < rows; ++v)
        for (int u = 0; u < columns; ++u) {
          const int from_y = y * conv.stride + v - conv.pad.height;
          const int from_x = x * conv.stride + u - conv.pad.width;
          if (!in.inside(from_y, from_x)) continue;
          const float* row =
              &weights[std::size_t(v * columns + u) * in.shape.channels * conv.filters];
          for (int c = 0; c < in.shape.channels; ++c, row += conv.filters) {
            const double value = in.at(c, from_y, from_x);
            for (int f = 0; f < conv.filters; ++f) sums[f] += value * double{row[f]};
          }
        }
      for (int f = 0; f < conv.filters; ++f) out.at(f, y, x) = activated(conv.activation, sums[f]);
    }
}

void apply(const MaxPool& pool, const Tensor& in, Tensor& out) {
  fill(out, [&](int c, int y, int x) {
    double largest = -std::numeric_limits<double>::infinity();
    for (int v = 0; v < pool.kernel; ++v)
      for (int u = 0; u < pool.kernel; ++u) {
        const int from_y = y * pool.stride + v - pool.pad_before;
        const int from_x = x * pool.stride + u - pool.pad_before;
        if (in.inside(from_y, from_x)) largest = std::max(largest, in.at(c, from_y, from_x));
      }
    return largest;
  });
}

void apply(const AveragePool& pool, const Tensor& in, Tensor& out) {
  fill(out, [&](int c, int y, int x) {
    double sum = 0;
    for (int v = 0; v < pool.kernel.height; ++v)
      for (int u = 0; u < pool.kernel.width; ++u) {
        const int from_y = y * pool.stride + v - pool.pad;
        const int from_x = x * pool.stride + u - pool.pad;
        if (in.inside(from_y, from_x)) sum += in.at(c, from_y, from_x);
      }
    return sum / (pool.kernel.height * pool.kernel.width);
  });
}

void apply(const LocalResponseNorm& norm, const Tensor& in, Tensor& out) {
  fill(out, [&](int c, int y, int x) {
    double squares = 0;
    for (int k = c - norm.size / 2; k <= c + norm.size / 2; ++k)
      if (k >= 0 && k < in.shape.channels) squares += in.at(k, y, x) * in.at(k, y, x);
    return in.at(c, y, x) /
           std::pow(double{norm.bias} + double{norm.alpha} / norm.size * squares, norm.beta);
  });
}

void apply(const Upsample& upsample, const Tensor& in, Tensor& out) {
  fill(out,
       [&](int c, int y, int x) { return in.at(c, y / upsample.factor, x / upsample.factor); });
}

void apply(const ChannelArgMax&, const Tensor& in, Tensor& out) {
  fill(out, [&](int, int y, int x) {
    int largest = 0;
    for (int c = 1; c < in.shape.channels; ++c)
      if (in.at(c, y, x) > in.at(largest, y, x)) largest = c;
    return static_cast<double>(largest);
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

void add(const Sum& sum, const std::vector<const Tensor*>& inputs, Tensor& out) {
  fill(out, [&](int c, int y, int x) {
    return activated(sum.activation, inputs[0]->at(c, y, x) + inputs[1]->at(c, y, x));
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

std::vector<std::vector<double>> reference_layers(const Network& network,
                                                  std::span<const float> weights,
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
    std::visit(
        [&](const auto& op) {
          using Op = std::decay_t<decltype(op)>;
          if constexpr (std::is_same_v<Op, Convolution>)
            apply(op, *in[0], convolution_weights(network, weights, i), out);
          else if constexpr (std::is_same_v<Op, Sum>)
            add(op, in, out);
          else if constexpr (std::is_same_v<Op, Route>)
            join(in, out);
          else
            apply(op, *in[0], out);
        },
        layer.op);
    outputs.push_back(std::move(out));
  }
  std::vector<std::vector<double>> values;
  for (Tensor& output : outputs) values.push_back(std::move(output.values));
  return values;
}

std::vector<double> reference_infer(const Network& network, std::span<const float> weights,
                                    std::span<const float> image) {
  return reference_layers(network, weights, image).back();
}

}  // namespace doetune::workloads
