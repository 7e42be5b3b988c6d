// A network as data: a list of layers that any engine can compile.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace doetune::workloads {

/// Shape of one image's tensor. Host buffers hold it as height x width x channels (NHWC).
struct Shape {
  int channels = 0;
  int height = 0;
  int width = 0;

  std::int64_t elements() const { return std::int64_t{channels} * height * width; }
  bool operator==(const Shape&) const = default;
};

enum class Activation { linear, leaky };  // leaky: x for x >= 0, kLeakySlope x below
inline constexpr float kLeakySlope = 0.1F;

/// Convolution with "same" zero padding (kernel / 2 on each side), then bias, then activation.
/// Batch normalisation is folded into weights and bias when weights are loaded; the flag says that
/// a Darknet file holds its four vectors.
struct Convolution {
  int filters;
  int kernel;  // odd
  int stride = 1;
  Activation activation = Activation::leaky;
  bool batch_norm = true;
};

/// Maximum over kernel x kernel; the output is ceil(input / stride) wide, windows that reach over
/// the right or lower edge ignore what is outside (Darknet's padding).
struct MaxPool {
  int kernel;
  int stride;
};

/// Darknet's space-to-depth: output (c stride^2, h / stride, w / stride). The order of elements is
/// Darknet's own (reorg_source), which published weights expect.
struct Reorg {
  int stride;
};

/// Joins its inputs along the channels; with one input it is a branch back to that layer.
struct Route {};

struct Layer {
  std::variant<Convolution, MaxPool, Reorg, Route> op;
  std::vector<int> inputs;  // indices of earlier layers; kNetworkInput is the image
  Shape output;
};
inline constexpr int kNetworkInput = -1;

/// What turns the last layer's output into boxes: anchors (width, height) in grid cells.
struct DetectionHead {
  std::vector<std::pair<float, float>> anchors;
  int classes = 0;
};

struct Network {
  std::string name;
  Shape input;
  std::vector<Layer> layers;
  DetectionHead head;

  const Shape& shape_of(int layer) const {
    return layer == kNetworkInput ? input : layers[layer].output;
  }
  const Shape& output() const { return layers.back().output; }
};

/// Appends layers to a network, each fed by the one before unless `inputs` says otherwise, and
/// works out their shapes. Throws std::invalid_argument where shapes do not fit.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, Shape input);
  NetworkBuilder& conv(int filters, int kernel, Activation activation = Activation::leaky);
  NetworkBuilder& linear_conv(int filters, int kernel);  // no batch normalisation, no activation
  NetworkBuilder& max_pool(int kernel, int stride);
  NetworkBuilder& reorg(int stride);
  NetworkBuilder& route(std::vector<int> inputs);
  int last() const { return static_cast<int>(network_.layers.size()) - 1; }
  Network build(DetectionHead head);

 private:
  NetworkBuilder& add(decltype(Layer::op) op, std::vector<int> inputs);
  Network network_;
};

/// Learned numbers: convolution weights, and one scale and one bias per batch-normalised filter
/// (one bias per filter otherwise); the two running statistics are not learned and not counted.
std::int64_t parameters(const Network& network);

/// Multiply-accumulates of the convolutions for one image.
std::int64_t multiply_accumulates(const Network& network);

/// Where element `index` of a Reorg output (channels x height x width order) comes from in its
/// input of the given shape (same order). Source: Darknet, forward_reorg_layer.
std::int64_t reorg_source(const Shape& input, int stride, std::int64_t index);

/// The networks there are. `build` takes the input's width = height in pixels, a multiple of 32.
struct NetworkType {
  std::string_view name;
  std::string_view source;
  Network (*build)(int input_size);
};
std::span<const NetworkType> network_types();

/// Builds a network by name. Throws std::invalid_argument for an unknown name or a size that is not
/// a positive multiple of 32.
Network make_network(std::string_view name, int input_size);

}  // namespace doetune::workloads
