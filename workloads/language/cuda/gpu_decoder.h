// A decoder on a GPU.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "workloads/engines/cudnn/captured_graph.h"
#include "workloads/engines/cudnn/device.h"
#include "workloads/language/cuda/gpu_kernels.h"
#include "workloads/language/cuda/gpu_products.h"
#include "workloads/language/cuda/gpu_weights.h"
#include "workloads/language/decoder.h"

namespace doetune::workloads::language {

/// The rows with which a step of so many tokens or predictions is run: there are few different
/// numbers, as each has a graph and products of its own.
constexpr int padded(int count) {
  if (count > 2048) return (count + 511) / 512 * 512;
  if (count > 1024) return (count + 255) / 256 * 256;
  if (count > 64) return (count + 63) / 64 * 64;
  int power = 1;
  while (power < count) power *= 2;
  return count > 2 && count <= power / 4 * 3 ? power / 4 * 3 : power;
}

/// Activations are fp32, but those that are multiplied by weights have their precision.
class GpuDecoder final : public Decoder {
 public:
  /// Chooses products, loads kernels and captures graphs, so that no step does. By one thread of
  /// the process at a time (cudnn::Preparation). The weights and the choices of their products must
  /// outlive the decoder. Throws CannotRun.
  GpuDecoder(const DecoderShape& shape, const GpuWeights& weights, Precision precision,
             const DecoderOptions& options, ProductChoices& choices);

  void step(std::span<const Segment> segments, std::span<int> next) override;
  std::span<const float> logits(int i) const override;
  std::int64_t cache_bytes() const override { return cache_.bytes(); }

 private:
  /// What the launches of a step have room for (StepLaunch).
  struct Size {
    int rows = 0;
    int tiles = 0;
    int predictions = 0;
    int splits = 1;
    auto operator<=>(const Size&) const = default;
  };

  void describe_products();
  void prepare();
  void choose(const Size& size, std::initializer_list<const Product*> products);
  void load_kernels();
  std::set<Size> graph_sizes() const;

  Size size_of(std::span<const Segment> segments) const;
  Size decoding_size(int sequences, int longest) const;
  Size reading_size(int tokens, int predictions) const;
  int splits_of(int rows, int tiles, int longest) const;
  int most_positions() const;
  StepLaunch launch_of(const Size& size) const;

  /// Fills in the step, and returns the number of bytes.
  std::int64_t gather(std::span<const Segment> segments);
  void submit(const StepLaunch& launch) const;
  void submit_layer(const StepLaunch& launch, int layer) const;
  LayerCache cache(int layer) const;
  StepView view() const;

  DecoderShape shape_;
  HeadShape heads_;
  const GpuWeights& weights_;
  Precision precision_;
  DecoderOptions options_;
  bool tiled_;  // the attention
  int max_rows_;
  int max_predictions_;
  cudnn::Stream stream_;
  GpuProducts products_;
  std::int64_t head_bytes_;   // of the cache, in one block
  std::int64_t layer_bytes_;  // of all blocks
  cudnn::DeviceBuffer cache_;
  cudnn::DeviceBuffer turns_;
  cudnn::PinnedBuffer given_;  // the step
  cudnn::DeviceBuffer step_;
  cudnn::PinnedBuffer next_;
  // Activations, a row for each token:
  cudnn::DeviceBuffer x_;
  cudnn::DeviceBuffer normalised_;
  cudnn::DeviceBuffer projected_;  // queries, keys, values
  cudnn::DeviceBuffer attended_;
  cudnn::DeviceBuffer parts_;  // of the attention
  cudnn::DeviceBuffer gates_;
  cudnn::DeviceBuffer gated_;
  cudnn::DeviceBuffer logits_;  // a row for each prediction
  cudnn::DeviceBuffer chosen_;
  Product query_key_value_;
  Product output_;
  Product gate_up_;
  Product down_;
  Product logits_product_;
  std::map<Size, cudnn::CapturedGraph> graphs_;
  mutable std::vector<float> read_logits_;  // of the last step, once they were asked for
};

}  // namespace doetune::workloads::language
