// The oneDNN primitives of a network's inference and the memory between them. Used by
// onednn_engine.cpp alone.
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

/// All steps of inference for one number of images, in order. Tensors with disjoint lifetimes share
/// memory; layouts are oneDNN's choice, with a reorder only where two choices differ.
///
/// Activations are fused into convolutions, and so are the sums given by fused_sums: such a
/// convolution adds its result to the other input, in that input's memory where nothing reads it
/// afterwards. In fp32 a 3 x 3 convolution runs as a Winograd transform where it is faster: with
/// AVX-512 oneDNN's (rules and measurements in onednn_convolutions.cpp), one image at a time where
/// that keeps data in the caches; with AVX2 our own, as oneDNN has none (onednn_winograd.cpp), and
/// then also for strided convolutions of an image that are 3 x 3 over blocks of its pixels
/// (space_to_depth.h). Such weights take four to five times the memory. A concatenation copies its
/// inputs, since oneDNN's fast kernels cannot write to part of a tensor.
class Plan {
 public:
  Plan(const dnnl::engine& engine, const Network& network, WeightStore& weights,
       Precision precision, int images);

  /// Creates all steps; they read and write the host buffers `input` and `output`.
  void build(float* input, float* output);
  void run(dnnl::stream& stream) const;

 private:
  /// A part of the arena, or a host buffer. It is reused once no tensor refers to it.
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
    int images;  // per call
    bool activation_fused;
  };
  struct Unbound {
    dnnl::memory object;
    const Slot* slot;
    std::size_t offset;
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
  dnnl::memory::desc any(const Shape& shape) const;  // layout is oneDNN's choice
  dnnl::memory::desc nhwc(const Shape& shape) const;
  /// Memory objects get their addresses in bind(), once the sizes of all slots are known.
  dnnl::memory memory_of(const Tensor& tensor);
  /// The part of the tensor, whose images are contiguous, that starts at this image.
  dnnl::memory part_of(const Tensor& tensor, const dnnl::memory::desc& part, int image);
  void add_primitive(dnnl::primitive primitive, Arguments arguments);
  void add_reorder(const Tensor& from, const Tensor& to);
  void bind();

  // onednn_convolutions.cpp
  void add(const Convolution& conv, int layer);
  void add_dense(const Convolution& conv, int layer);
  /// Adds nothing and returns false where that would not be faster.
  bool add_pixelwise(const Convolution& conv, const Tensor& source, int channels, int layer);
  template <class Primitive>
  void add_weighted(const typename Primitive::primitive_desc& chosen, int images,
                    const Tensor& source, const dnnl::memory::dims& weights,
                    const dnnl::memory::desc& result, int layer);
  Tensor residual(int layer, const dnnl::memory::desc& wanted);
  Activation activation_after(const Convolution& conv, int layer) const;
  dnnl::primitive_attr fused_steps(const Convolution& conv, int layer) const;
  void add_activation(const Tensor& tensor, Activation activation);
  /// Empty if oneDNN has no such convolution.
  dnnl::convolution_forward::primitive_desc describe(const Convolution& conv, const Layer& node,
                                                     dnnl::algorithm algorithm,
                                                     dnnl::memory::format_tag layout, int images,
                                                     const dnnl::primitive_attr& attributes) const;
  ChosenConvolution choose(const Convolution& conv, int layer) const;

  // onednn_winograd.cpp
  /// Whether our own Winograd transform is the fastest.
  bool has_own_winograd(const Convolution& conv, const Layer& node) const;
  void add_winograd(const Convolution& conv, int layer);
  /// The layer's tensor, or the network's input, in blocks of pixels.
  Tensor blocked(const SpaceToDepth& blocks, int layer);

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
  std::vector<Tensor> tensors_;  // by layer; reset after their last use
  std::vector<std::shared_ptr<Slot>> slots_;
  std::vector<Unbound> unbound_;
  std::vector<Step> steps_;
  std::unique_ptr<Buffer> arena_;
};

dnnl::memory::dims nchw(int images, const Shape& shape);

/// Padding at the end of the input that the last window needs.
dnnl::memory::dim pad_end(int in, int out, int kernel, int stride, int pad);

/// Whether each output depends on the whole input.
bool is_dense(const Convolution& conv, const Shape& in);

/// Appends the activation as a post-operation; none for a linear one.
void append_activation(dnnl::post_ops& operations, Activation activation);

}  // namespace doetune::workloads::onednn
