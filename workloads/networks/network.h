// A network as data: a list of layers that any engine can compile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "workloads/shape.h"

namespace doetune::workloads {

enum class Activation { linear, relu, leaky };  // leaky: x for x >= 0, kLeakySlope x below
inline constexpr float kLeakySlope = 0.1F;

/// The slope below zero: 1, 0 or kLeakySlope.
float negative_slope(Activation activation);

/// Convolution, then bias, then activation. Padded with zeros by `pad` on all sides:
///   out = floor((in + 2 pad - kernel) / stride) + 1.
/// In a fully connected layer the kernel covers the whole input. Batch normalisation is folded into
/// weights and bias when weights are loaded for inference; the flag means that the layer has one,
/// in place of a bias, in training. In training each element of the input is dropped with
/// probability `dropout` (dropout.h).
struct Convolution {
  int filters;
  Extent kernel;
  int stride = 1;
  Extent pad = {0, 0};
  Activation activation = Activation::leaky;
  bool batch_norm = true;
  float dropout = 0.0F;
};

/// Maximum over the part of a kernel x kernel window that is inside; the window may extend over the
/// upper and left edge by `pad_before` and over the lower and right edge by `pad_after`:
///   out = floor((in + pad_before + pad_after - kernel) / stride) + 1.
struct MaxPool {
  int kernel;
  int stride;
  int pad_before = 0;
  int pad_after = 0;
};

/// Mean over the window, with the padding counted as zeros (out as for a convolution).
struct AveragePool {
  Extent kernel;
  int stride = 1;
  int pad = 0;
};

/// x / (bias + alpha / size sum of squares over `size` neighbouring channels)^beta, channels
/// outside counting as zero. Source: Krizhevsky et al. (2012), section 3.3, in Caffe's form (alpha
/// / size).
struct LocalResponseNorm {
  int size = 5;
  float alpha = 1e-4F;
  float beta = 0.75F;
  float bias = 1.0F;
};

/// Sum of its two inputs, then activation: the end of a residual block.
struct Sum {
  Activation activation = Activation::relu;
};

/// Repeats each pixel factor x factor times (nearest neighbour).
struct Upsample {
  int factor;
};

/// The index of the largest channel, the first of ties, as one channel.
struct ChannelArgMax {};

/// Darknet's space-to-depth: output (c stride^2, h / stride, w / stride). The order of elements is
/// Darknet's own (reorg_source), which published weights require.
struct Reorg {
  int stride;
};

/// Concatenates its inputs along the channels; with one input it is an alias of that layer.
struct Route {};

struct Layer {
  std::variant<Convolution, MaxPool, AveragePool, LocalResponseNorm, Sum, Upsample, ChannelArgMax,
               Reorg, Route>
      op;
  std::vector<int> inputs;  // indices of earlier layers; kNetworkInput is the image
  Shape output;
};
inline constexpr int kNetworkInput = -1;

/// Parameters of the box decoding: anchors (width, height) in grid cells.
struct DetectionHead {
  std::vector<std::pair<float, float>> anchors;
  int classes = 0;
};

/// The last layer holds one logit per class.
struct ClassificationHead {
  int classes = 0;
};

/// The last layer holds one channel of grey levels 0 .. levels - 1, as large as the input.
struct HeatMapHead {
  int levels = 0;
};

/// The last layer's output feeds another network (stages.h).
struct NoHead {};

using Head = std::variant<DetectionHead, ClassificationHead, HeatMapHead, NoHead>;

struct Network {
  std::string name;
  Shape input;  // 3 channels for each image of an input
  std::vector<Layer> layers;
  Head head;

  const Shape& shape_of(int layer) const {
    return layer == kNetworkInput ? input : layers[layer].output;
  }
  const Shape& output() const { return layers.back().output; }
  int images() const { return input.channels / 3; }
};

/// Appends layers to a network, each fed by the previous one unless `inputs` or a `from` says
/// otherwise, and computes their shapes. Throws std::invalid_argument where shapes do not match.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, Shape input);

  NetworkBuilder& conv(Convolution convolution);
  /// As in Darknet: "same" padding, batch normalisation, stride 1.
  NetworkBuilder& conv(int filters, int kernel, Activation activation = Activation::leaky);
  NetworkBuilder& linear_conv(int filters, int kernel);  // no batch normalisation, no activation
  /// Fully connected: a kernel as large as the input, with a bias.
  NetworkBuilder& dense(int units, Activation activation, float dropout = 0.0F);
  /// As in Darknet: out = ceil(in / stride), windows that extend over the right or lower edge.
  NetworkBuilder& max_pool(int kernel, int stride);
  NetworkBuilder& max_pool(MaxPool pool);
  NetworkBuilder& average_pool(AveragePool pool);
  NetworkBuilder& global_average_pool();
  NetworkBuilder& local_response_norm(LocalResponseNorm norm);
  NetworkBuilder& sum(int left, int right, Activation activation = Activation::relu);
  NetworkBuilder& upsample(int factor);
  NetworkBuilder& channel_arg_max();
  NetworkBuilder& reorg(int stride);
  NetworkBuilder& route(std::vector<int> inputs);

  /// Feeds the next layer from this one.
  NetworkBuilder& from(int layer);
  /// The layer that feeds the next one; initially kNetworkInput.
  int last() const { return from_; }
  Network build(Head head);

 private:
  NetworkBuilder& add(decltype(Layer::op) op, std::vector<int> inputs);
  Network network_;
  int from_ = kNetworkInput;
};

/// The classifier with another number of classes in its head and last convolution. Throws
/// std::invalid_argument for a network that is not a classifier, or for fewer than 2 classes.
Network with_classes(Network network, int classes);

/// The number of trainable parameters: convolution weights, and one scale and one bias per
/// batch-normalised filter (one bias per filter otherwise). The two running statistics are not
/// counted.
std::int64_t parameters(const Network& network);

/// Multiply-accumulates of the convolutions for one image.
std::int64_t multiply_accumulates(const Network& network);

/// For each layer, the Sum that can be fused into it, or -1: the layer must be a linear convolution
/// whose only reader is that Sum. Of two such inputs the later layer takes it, and must then read
/// the Sum's other input as well.
std::vector<int> fused_sums(const Network& network);

/// For each layer, the number of layers that read it; the output counts as one more reader.
std::vector<int> readers(const Network& network);

/// The index, in an input of the given shape, of element `index` of a Reorg output (both in
/// channels x height x width order). Source: Darknet, forward_reorg_layer.
std::int64_t reorg_source(const Shape& input, int stride, std::int64_t index);

/// The bundled networks. `build` takes the input's height in pixels.
struct NetworkType {
  std::string_view name;
  std::string_view source;
  Network (*build)(int input_height);
  int default_height;
  int multiple_of;  // divisor of the height
  int min_height;   // minimum height
  int max_height;
};
std::span<const NetworkType> network_types();

/// Throws std::invalid_argument, listing the names, for an unknown one.
const NetworkType& network_type(std::string_view name);

/// Builds a network by name; its input is square except for tracknet's, which is 16 : 9. Throws
/// std::invalid_argument for an unknown name or an unsupported height.
Network make_network(std::string_view name, int input_height);

}  // namespace doetune::workloads
