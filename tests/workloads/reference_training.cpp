#include "reference_training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace doetune::workloads {
namespace {

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

/// The learned numbers of a convolution, or their gradients.
template <class T>
struct Learned {
  std::span<T> weights;
  std::span<T> scale;  // with batch normalisation
  std::span<T> shift;  // or bias
};

template <class T>
std::vector<Learned<T>> by_layer(const Network& network, std::span<T> block) {
  std::vector<Learned<T>> result(network.layers.size());
  for (const ParameterTensor& tensor : parameter_layout(network)) {
    const auto values = block.subspan(tensor.offset, tensor.count);
    Learned<T>& learned = result[tensor.layer];
    (tensor.kind == ParameterKind::weights ? learned.weights
     : tensor.kind == ParameterKind::scale ? learned.scale
                                           : learned.shift) = values;
  }
  return result;
}

/// Calls visit(n, f, y, x, c, from_y, from_x, weight index) for every product of a convolution.
template <class Visit>
void for_products(const Convolution& conv, const Tensor& in, const Tensor& out, Visit visit) {
  const auto [rows, columns] = conv.kernel;
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
  void back(Tensor& d, std::span<const double> scale, const Learned<double>& gradient) const {
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

void activate(Activation activation, Tensor& tensor) {
  for (double& value : tensor.values)
    if (value < 0) value *= static_cast<double>(negative_slope(activation));
}

/// `out` is what activate made: of the same sign as its input, or zero below a ReLU.
Tensor activation_back(Activation activation, const Tensor& out, Tensor gradient) {
  for (std::size_t i = 0; i < out.values.size(); ++i)
    if (out.values[i] <= 0) gradient.values[i] *= static_cast<double>(negative_slope(activation));
  return gradient;
}

class Pass {
 public:
  Pass(const Network& network, std::span<const double> parameters, std::span<const double> running,
       std::span<const float> images, std::span<const std::int32_t> labels)
      : network_(network),
        learned_(by_layer(network, parameters)),
        running_(running),
        labels_(labels),
        images_(static_cast<int>(labels.size())),
        input_(images_, network.input) {
    std::ranges::copy(images, input_.values.begin());
    for (const Layer& layer : network.layers) outputs_.emplace_back(images_, layer.output);
    normalisations_.resize(network.layers.size(), Normalisation(Tensor()));
  }

  void forward(ReferencePass& result) {
    for (int layer = 0; layer < static_cast<int>(outputs_.size()); ++layer)
      std::visit([&](const auto& op) { forward(op, layer); }, network_.layers[layer].op);
    result.logits = outputs_.back().values;
    score(result);
  }

  void backward(ReferencePass& result) {
    result.gradients.assign(parameters(network_), 0.0);
    gradients_ = by_layer(network_, std::span(result.gradients));
    for (const Tensor& out : outputs_) d_.emplace_back(images_, out.shape);
    d_.back().values = d_logits_;
    for (auto layer = static_cast<int>(outputs_.size()) - 1; layer >= 0; --layer)
      std::visit([&](const auto& op) { backward(op, layer); }, network_.layers[layer].op);
    collect_statistics(result);
  }

 private:
  const Tensor& in(int layer, int which = 0) const {
    const int from = network_.layers[layer].inputs[which];
    return from == kNetworkInput ? input_ : outputs_[from];
  }
  /// Where the gradient of an input is summed; that of the image goes nowhere.
  Tensor& d_in(int layer, int which = 0) {
    const int from = network_.layers[layer].inputs[which];
    if (from != kNetworkInput) return d_[from];
    nowhere_ = Tensor(images_, network_.input);
    return nowhere_;
  }

  void score(ReferencePass& result) {
    const int classes = network_.output().channels;
    d_logits_.resize(result.logits.size());
    for (int n = 0; n < images_; ++n) {
      const auto logits = std::span(result.logits).subspan(n * classes, classes);
      const auto largest = std::ranges::max_element(logits);
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit - *largest);
      for (int k = 0; k < classes; ++k)
        d_logits_[n * classes + k] =
            (std::exp(logits[k] - *largest) / sum - (k == labels_[n] ? 1 : 0)) / images_;
      result.loss += (std::log(sum) + *largest - logits[labels_[n]]) / images_;
      if (largest - logits.begin() == labels_[n]) ++result.correct;
    }
  }

  void forward(const Convolution& conv, int layer) {
    Tensor& out = outputs_[layer];
    const Tensor& from = in(layer);
    const Learned<const double>& w = learned_[layer];
    for_products(conv, from, out,
                 [&](int n, int f, int y, int x, int c, int fy, int fx, std::size_t i) {
                   out.at(n, f, y, x) += w.weights[i] * from.at(n, c, fy, fx);
                 });
    if (conv.batch_norm) normalise(out, layer);
    for_each(out, [&](int n, int f, int y, int x) {
      out.at(n, f, y, x) = out.at(n, f, y, x) * (conv.batch_norm ? w.scale[f] : 1) + w.shift[f];
    });
    activate(conv.activation, out);
  }

  void normalise(Tensor& out, int layer) {
    Normalisation norm(out);
    if (running_.empty()) {
      norm.take_batch_statistics();
    } else {
      const std::size_t filters = norm.mean.size();
      std::ranges::copy(running_.first(filters), norm.mean.begin());
      std::ranges::copy(running_.subspan(filters, filters), norm.variance.begin());
      running_ = running_.subspan(2 * filters);
    }
    norm.normalise();
    out = norm.normal;
    normalisations_[layer] = std::move(norm);
  }

  void backward(const Convolution& conv, int layer) {
    Tensor d = activation_back(conv.activation, outputs_[layer], d_[layer]);
    const Learned<double>& gradient = gradients_[layer];
    if (conv.batch_norm)
      normalisations_[layer].back(d, learned_[layer].scale, gradient);
    else
      for_each(d, [&](int n, int f, int y, int x) { gradient.shift[f] += d.at(n, f, y, x); });
    const Tensor& from = in(layer);
    Tensor& d_from = d_in(layer);
    for_products(conv, from, d,
                 [&](int n, int f, int y, int x, int c, int fy, int fx, std::size_t i) {
                   gradient.weights[i] += d.at(n, f, y, x) * from.at(n, c, fy, fx);
                   d_from.at(n, c, fy, fx) += d.at(n, f, y, x) * learned_[layer].weights[i];
                 });
  }

  /// Where the largest of a window lies, the first of equals.
  static std::pair<int, int> largest(const MaxPool& pool, const Tensor& from, int n, int c, int y,
                                     int x) {
    std::pair<int, int> place{-1, -1};
    double most = -std::numeric_limits<double>::infinity();
    for_window(from, y, x, {pool.kernel, pool.kernel}, pool.stride,
               {pool.pad_before, pool.pad_before}, [&](int fy, int fx, int, int) {
                 if (from.at(n, c, fy, fx) <= most) return;
                 most = from.at(n, c, fy, fx);
                 place = {fy, fx};
               });
    return place;
  }

  void forward(const MaxPool& pool, int layer) {
    for_each(outputs_[layer], [&](int n, int c, int y, int x) {
      const auto [fy, fx] = largest(pool, in(layer), n, c, y, x);
      outputs_[layer].at(n, c, y, x) = in(layer).at(n, c, fy, fx);
    });
  }

  void backward(const MaxPool& pool, int layer) {
    Tensor& d_from = d_in(layer);
    for_each(d_[layer], [&](int n, int c, int y, int x) {
      const auto [fy, fx] = largest(pool, in(layer), n, c, y, x);
      d_from.at(n, c, fy, fx) += d_[layer].at(n, c, y, x);
    });
  }

  void forward(const AveragePool& pool, int layer) {
    for_each(outputs_[layer], [&](int n, int c, int y, int x) {
      for_window(in(layer), y, x, pool.kernel, pool.stride, {pool.pad, pool.pad},
                 [&](int fy, int fx, int, int) {
                   outputs_[layer].at(n, c, y, x) +=
                       in(layer).at(n, c, fy, fx) / (pool.kernel.height * pool.kernel.width);
                 });
    });
  }

  void backward(const AveragePool& pool, int layer) {
    Tensor& d_from = d_in(layer);
    for_each(d_[layer], [&](int n, int c, int y, int x) {
      for_window(d_from, y, x, pool.kernel, pool.stride, {pool.pad, pool.pad},
                 [&](int fy, int fx, int, int) {
                   d_from.at(n, c, fy, fx) +=
                       d_[layer].at(n, c, y, x) / (pool.kernel.height * pool.kernel.width);
                 });
    });
  }

  /// bias + alpha / size sum of squares of the neighbours of channel c.
  static double neighbourhood(const LocalResponseNorm& norm, const Tensor& from, int n, int c,
                              int y, int x) {
    double squares = 0;
    for (int k = c - norm.size / 2; k <= c + norm.size / 2; ++k)
      if (k >= 0 && k < from.shape.channels) squares += from.at(n, k, y, x) * from.at(n, k, y, x);
    return double{norm.bias} + double{norm.alpha} / norm.size * squares;
  }

  void forward(const LocalResponseNorm& norm, int layer) {
    const Tensor& from = in(layer);
    for_each(from, [&](int n, int c, int y, int x) {
      outputs_[layer].at(n, c, y, x) =
          from.at(n, c, y, x) * std::pow(neighbourhood(norm, from, n, c, y, x), -norm.beta);
    });
  }

  void backward(const LocalResponseNorm& norm, int layer) {
    const Tensor& from = in(layer);
    Tensor& d_from = d_in(layer);
    for_each(from, [&](int n, int c, int y, int x) {
      const double b = neighbourhood(norm, from, n, c, y, x);
      const double d = d_[layer].at(n, c, y, x);
      d_from.at(n, c, y, x) += d * std::pow(b, -norm.beta);
      const double inner = -2 * double{norm.alpha} / norm.size * double{norm.beta} * d *
                           from.at(n, c, y, x) * std::pow(b, -double{norm.beta} - 1);
      for (int k = c - norm.size / 2; k <= c + norm.size / 2; ++k)
        if (k >= 0 && k < from.shape.channels) d_from.at(n, k, y, x) += inner * from.at(n, k, y, x);
    });
  }

  void forward(const Sum& sum, int layer) {
    Tensor& out = outputs_[layer];
    for (std::size_t i = 0; i < out.values.size(); ++i)
      out.values[i] = in(layer, 0).values[i] + in(layer, 1).values[i];
    activate(sum.activation, out);
  }

  void backward(const Sum& sum, int layer) {
    const Tensor d = activation_back(sum.activation, outputs_[layer], d_[layer]);
    for (const int which : {0, 1}) {
      Tensor& d_from = d_in(layer, which);
      for (std::size_t i = 0; i < d.values.size(); ++i) d_from.values[i] += d.values[i];
    }
  }

  /// Calls visit(which input, its channel, output channel).
  template <class Visit>
  void for_joined(int layer, Visit visit) {
    int first = 0;
    for (int which = 0; which < static_cast<int>(network_.layers[layer].inputs.size()); ++which) {
      const int channels = in(layer, which).shape.channels;
      for (int c = 0; c < channels; ++c) visit(which, c, first + c);
      first += channels;
    }
  }

  void forward(const Route&, int layer) {
    for_joined(layer, [&](int which, int c, int joined) {
      for_each(outputs_[layer], [&](int n, int k, int y, int x) {
        if (k == joined) outputs_[layer].at(n, k, y, x) = in(layer, which).at(n, c, y, x);
      });
    });
  }

  void backward(const Route&, int layer) {
    for_joined(layer, [&](int which, int c, int joined) {
      Tensor& d_from = d_in(layer, which);
      for_each(d_[layer], [&](int n, int k, int y, int x) {
        if (k == joined) d_from.at(n, c, y, x) += d_[layer].at(n, k, y, x);
      });
    });
  }

  template <class Op>
  void forward(const Op&, int) {
    throw std::invalid_argument("the reference does not train this layer");
  }
  template <class Op>
  void backward(const Op&, int) {}

  void collect_statistics(ReferencePass& result) const {
    for (const Normalisation& norm : normalisations_) {
      const auto count = static_cast<double>(norm.normal.pixels());
      result.statistics.insert(result.statistics.end(), norm.mean.begin(), norm.mean.end());
      for (const double variance : norm.variance)
        result.statistics.push_back(variance * count / std::max(count - 1, 1.0));
    }
  }

  const Network& network_;
  std::vector<Learned<const double>> learned_;
  std::vector<Learned<double>> gradients_;
  std::span<const double> running_;
  std::span<const std::int32_t> labels_;
  int images_;
  Tensor input_;
  std::vector<Tensor> outputs_;
  std::vector<Tensor> d_;  // of the loss by the outputs
  Tensor nowhere_;
  std::vector<double> d_logits_;
  std::vector<Normalisation> normalisations_;
};

}  // namespace

ReferencePass reference_gradients(const Network& network, std::span<const double> parameters,
                                  std::span<const float> images,
                                  std::span<const std::int32_t> labels) {
  ReferencePass result;
  Pass pass(network, parameters, {}, images, labels);
  pass.forward(result);
  pass.backward(result);
  return result;
}

ReferencePass reference_evaluate(const Network& network, std::span<const double> parameters,
                                 std::span<const double> statistics, std::span<const float> images,
                                 std::span<const std::int32_t> labels) {
  ReferencePass result;
  Pass(network, parameters, statistics, images, labels).forward(result);
  return result;
}

}  // namespace doetune::workloads
