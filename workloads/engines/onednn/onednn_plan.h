// The primitives of a network on oneDNN and the memory between them. Used by onednn_engine.cpp
// alone.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/engines/onednn/onednn_memory.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::onednn {

/// All steps of inference for one number of images, in order. Tensors that are not alive at the
/// same time share memory; layouts are oneDNN's choice, and a reorder stands only where two choices
/// differ.
///
/// Activations are fused into convolutions, and so are the sums that fused_sums names: such a
/// convolution adds its result to the other input, in that input's memory where nothing else reads
/// it any more. In fp32 a 3 x 3 convolution runs as a Winograd transform where oneDNN has one and
/// each weight meets enough pixels to pay for it (constants in onednn_convolutions.cpp, with their
/// measurement). A join copies its inputs: oneDNN's fast kernels write no parts of a tensor.
class Plan {
 public:
  Plan(const dnnl::engine& engine, const Network& network, WeightStore& weights,
       Precision precision, int images);

  /// Makes all steps; `input` and `output` are the host buffers that they read and write.
  void build(float* input, float* output);
  void run(dnnl::stream& stream) const;

 private:
  /// A piece of the arena, or a host buffer. It is free for the next tensor as soon as no tensor
  /// has a share in it.
  struct Slot {
    std::size_t bytes = 0;
    void* data = nullptr;
  };
  struct Tensor {
    dnnl::memory::desc desc;
    std::shared_ptr<Slot> slot;
  };
  struct ChosenConvolution {
    dnnl::convolution_forward::primitive_desc desc;
    bool activation_fused;
  };
  using Arguments = std::unordered_map<int, dnnl::memory>;
  using Step = std::function<void(dnnl::stream&)>;

  // onednn_plan.cpp: memory and steps
  void find_last_uses();
  Tensor new_tensor(const dnnl::memory::desc& desc);
  const Tensor& tensor_of(int layer) const {
    return layer == kNetworkInput ? image_ : tensors_[layer];
  }
  /// The layer's tensor in the precision of this plan.
  Tensor typed(int layer);
  /// The tensor in the wanted layout and type: itself, or a copy.
  Tensor in_layout(const Tensor& tensor, const dnnl::memory::desc& wanted);
  dnnl::memory::desc any(const Shape& shape) const;
  dnnl::memory::desc nhwc(const Shape& shape) const;
  /// Memory objects get their addresses in bind(), once the size of every slot is known.
  dnnl::memory memory_of(const Tensor& tensor);
  void add_primitive(dnnl::primitive primitive, Arguments arguments);
  void add_reorder(const Tensor& from, const Tensor& to);
  void bind();

  // onednn_convolutions.cpp
  void add(const Convolution& conv, int layer);
  void add_dense(const Convolution& conv, int layer);
  template <class Primitive>
  void add_weighted(const typename Primitive::primitive_desc& chosen, const Convolution& conv,
                    int layer);
  Tensor residual(int layer, const dnnl::memory::desc& wanted);
  Activation activation_after(const Convolution& conv, int layer) const;
  dnnl::primitive_attr fused_steps(const Convolution& conv, int layer) const;
  void add_activation(const Tensor& tensor, Activation activation);
  /// Empty if oneDNN has no such convolution.
  dnnl::convolution_forward::primitive_desc describe(const Convolution& conv, const Layer& node,
                                                     dnnl::algorithm algorithm,
                                                     const dnnl::primitive_attr& attributes) const;
  ChosenConvolution choose(const Convolution& conv, int layer) const;

  // onednn_layers.cpp
  void add(const MaxPool& pool, int layer);
  void add(const AveragePool& pool, int layer);
  void add(const LocalResponseNorm& norm, int layer);
  void add(const Sum& sum, int layer);
  void add(const Upsample& upsample, int layer);
  void add(const ChannelArgMax& arg_max, int layer);
  void add(const Reorg& reorg, int layer);
  void add(const Route& route, int layer);
  void add_pool(dnnl::algorithm algorithm, int layer, Extent kernel, int stride, int pad);

  dnnl::engine engine_;
  const Network& network_;
  WeightStore& weights_;
  dnnl::memory::data_type type_;
  int images_;
  std::vector<int> fused_sums_;
  std::vector<int> last_use_;  // for each layer, the layer whose step reads it last
  Tensor image_;
  std::vector<Tensor> tensors_;  // of layers; emptied after their last use
  std::vector<std::shared_ptr<Slot>> slots_;
  std::vector<std::pair<dnnl::memory, const Slot*>> unbound_;
  std::vector<Step> steps_;
  std::unique_ptr<Buffer> arena_;
};

dnnl::memory::dims nchw(int images, const Shape& shape);

/// Padding that a window needs at the end to reach the last output.
dnnl::memory::dim pad_end(int in, int out, int kernel, int stride, int pad);

/// Whether each output sees the whole input.
bool is_dense(const Convolution& conv, const Shape& in);

/// The activation as a post-operation; none for a linear one.
void append_activation(dnnl::post_ops& operations, Activation activation);

}  // namespace doetune::workloads::onednn
