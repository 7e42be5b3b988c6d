#include "reference_training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "reference_tensor.h"
#include "workloads/engines/dropout.h"

namespace doetune::workloads {
namespace {

class Pass {
 public:
  Pass(const Network& network, std::span<const double> parameters, std::span<const double> running,
       std::span<const float> images, std::span<const std::int32_t> labels, const DropoutDraw* draw)
      : network_(network),
        parameters_(by_layer(network, parameters)),
        running_(running),
        labels_(labels),
        draw_(draw),
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
  /// The gradient with respect to an input, to be summed into; that of the image is discarded.
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

  /// Applies dropout to a layer's input, or to the gradient on its way back.
  Tensor dropped(const Convolution& conv, int layer, Tensor tensor) const {
    if (draw_ == nullptr) return tensor;
    const std::uint64_t key = dropout_key(draw_->seed, draw_->step, layer);
    const auto first = static_cast<std::uint64_t>(draw_->first_image * tensor.shape.elements());
    for (std::size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] *= double{dropout_factor(key, first + i, conv.dropout)};
    return tensor;
  }

  void forward(const Convolution& conv, int layer) {
    Tensor& out = outputs_[layer];
    const Tensor from = dropped(conv, layer, in(layer));
    const Parameters<const double>& w = parameters_[layer];
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
    const Parameters<double>& gradient = gradients_[layer];
    if (conv.batch_norm)
      normalisations_[layer].back(d, parameters_[layer].scale, gradient);
    else
      for_each(d, [&](int n, int f, int y, int x) { gradient.shift[f] += d.at(n, f, y, x); });
    const Tensor from = dropped(conv, layer, in(layer));
    Tensor d_from(images_, from.shape);
    for_products(conv, from, d,
                 [&](int n, int f, int y, int x, int c, int fy, int fx, std::size_t i) {
                   gradient.weights[i] += d.at(n, f, y, x) * from.at(n, c, fy, fx);
                   d_from.at(n, c, fy, fx) += d.at(n, f, y, x) * parameters_[layer].weights[i];
                 });
    const Tensor d_whole = dropped(conv, layer, std::move(d_from));
    Tensor& sum = d_in(layer);
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += d_whole.values[i];
  }

  /// The position of the maximum of a window, the first of ties.
  static std::pair<int, int> largest(const MaxPool& pool, const Tensor& from, int n, int c, int y,
                                     int x) {
    std::pair<int, int> position{-1, -1};
    double highest = -std::numeric_limits<double>::infinity();
    for_window(from, y, x, {pool.kernel, pool.kernel}, pool.stride,
               {pool.pad_before, pool.pad_before}, [&](int fy, int fx, int, int) {
                 if (from.at(n, c, fy, fx) <= highest) return;
                 highest = from.at(n, c, fy, fx);
                 position = {fy, fx};
               });
    return position;
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
  std::vector<Parameters<const double>> parameters_;
  std::vector<Parameters<double>> gradients_;
  std::span<const double> running_;
  std::span<const std::int32_t> labels_;
  const DropoutDraw* draw_;  // none in evaluation
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
                                  std::span<const std::int32_t> labels, const DropoutDraw& draw) {
  ReferencePass result;
  Pass pass(network, parameters, {}, images, labels, &draw);
  pass.forward(result);
  pass.backward(result);
  return result;
}

ReferencePass reference_evaluate(const Network& network, std::span<const double> parameters,
                                 std::span<const double> statistics, std::span<const float> images,
                                 std::span<const std::int32_t> labels) {
  ReferencePass result;
  Pass(network, parameters, statistics, images, labels, nullptr).forward(result);
  return result;
}

}  // namespace doetune::workloads
