// The primitives of a network on oneDNN and the memory between them. Used by onednn_engine.cpp
// alone.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::onednn {

/// Page-aligned memory in large pages where the system has them: weights and activations are read
/// in long strides. Throws std::bad_alloc.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  char* at(std::size_t offset) const { return static_cast<char*>(data_) + offset; }
  float* floats() const { return static_cast<float*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

/// A convolution's weights in the layout that a primitive asked for.
struct PackedWeights {
  dnnl::memory weights;
  dnnl::memory bias;
  std::shared_ptr<Buffer> storage;
};

/// Packs each layer's weights once for each layout that is asked for; batch sizes share layouts.
class WeightStore {
 public:
  WeightStore(const dnnl::engine& engine, const Network& network, std::span<const float> block)
      : engine_(engine), network_(network), block_(block) {}

  PackedWeights packed(int layer, const dnnl::memory::desc& wanted, const dnnl::memory::dims& dims);

 private:
  dnnl::engine engine_;
  const Network& network_;
  std::span<const float> block_;
  std::map<int, std::vector<PackedWeights>> kept_;
};

/// All steps of inference for one number of images, in order. Tensors that are not alive at the
/// same time share memory; layouts are oneDNN's choice, and a reorder stands only where two choices
/// differ.
///
/// In fp32 a 3 x 3 convolution runs as a Winograd transform where oneDNN has one and each weight
/// meets enough pixels to pay for it (constants in the source, with their measurement); its
/// activation is then a step of its own, in place. All other convolutions have theirs fused.
class Plan {
 public:
  Plan(const dnnl::engine& engine, const Network& network, WeightStore& weights,
       Precision precision, int images);

  /// Makes all steps; `input` and `output` are the host buffers that they read and write.
  void build(float* input, float* output);
  void run(dnnl::stream& stream) const;

 private:
  struct Value {  // a tensor: its layout, and which slot of the arena (or host buffer) holds it
    dnnl::memory::desc desc;
    int slot = 0;
  };
  struct Slot {
    std::size_t bytes = 0;
    bool free = true;
  };
  struct ChosenConvolution {
    dnnl::convolution_forward::primitive_desc desc;
    bool activation_fused;
  };
  using Step = std::function<void(dnnl::stream&)>;
  using Arguments = std::unordered_map<int, dnnl::memory>;

  int root(int layer) const;
  void find_last_uses();
  Value new_value(const dnnl::memory::desc& desc);
  void release(const Value& value);
  void release_after(int layer);
  const Value& value_of(int layer) const {
    return layer == kNetworkInput ? image_ : values_[layer];
  }
  Value in_layout(const Value& value, const dnnl::memory::desc& wanted);
  void release_copy(const Value& used, const Value& original);
  void bind(float* input, float* output);

  dnnl::memory memory_of(const Value& value);
  dnnl::memory::desc any(const Shape& shape) const;
  void add_primitive(dnnl::primitive primitive, Arguments arguments);
  void add_reorder(const Value& from, const Value& to);
  void add_activation(const Value& value, Activation activation);
  void add(const Convolution& conv, int layer);
  void add(const MaxPool& pool, int layer);
  template <class Op>
  void add(const Op&, int) {
    throw CannotRun("the oneDNN engine lacks a layer of this network");
  }
  void add(const Reorg& reorg, int layer);
  void add(const Route& route, int layer);
  dnnl::convolution_forward::primitive_desc describe(const Convolution& conv, const Layer& node,
                                                     dnnl::algorithm algorithm,
                                                     const dnnl::primitive_attr& attributes) const;
  ChosenConvolution choose(const Convolution& conv, const Layer& node) const;

  dnnl::engine engine_;
  const Network& network_;
  WeightStore& weights_;
  dnnl::memory::data_type type_;
  int images_;
  Value image_;
  std::vector<Value> values_;
  std::vector<int> last_use_;
  std::vector<Slot> slots_;
  std::vector<std::pair<dnnl::memory, int>> unbound_;
  std::vector<Step> steps_;
  std::unique_ptr<Buffer> arena_;
};

}  // namespace doetune::workloads::onednn
