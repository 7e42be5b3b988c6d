// The oneDNN primitives of a training step and the memory between them. Used by onednn_training.cpp
// and onednn_stage.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "workloads/engines/onednn/onednn_memory.h"
#include "workloads/engines/training.h"

namespace doetune::workloads::onednn {

/// What the plans for all numbers of images share: host buffers, and blocks as in parameters.h.
struct TrainingBuffers {
  float* input;
  const std::int32_t* labels;
  float* output;  // of the last layer
  float* parameters;
  float* gradients;
  float* statistics;
  const std::int64_t* updates;  // so far; for dropout, as is first_image
  const std::int64_t* first_image;
  float* output_gradient = nullptr;  // of a stage that does not end with the loss
  float* input_gradient = nullptr;   // of a stage that does not begin with the image
};

/// Forward and backward pass for one number of images, in order. Layouts are oneDNN's choice, with
/// a reorder only where two choices differ. Weights are converted to the layout and precision of a
/// primitive just before it, since every step changes them. Memory is reused after a tensor's last
/// reader: activations live until their backward step, gradients briefly.
class TrainingPlan {
 public:
  TrainingPlan(const dnnl::engine& engine, const Network& network, const TrainingOptions& options,
               int images, const TrainingBuffers& buffers);

  /// Memory of the tensors between the steps, and its page-aligned address.
  std::size_t bytes() const { return bytes_; }
  /// Maximum scratch memory of oneDNN, for one primitive at a time.
  std::size_t scratch_bytes() const { return scratch_bytes_; }
  void bind(char* arena);

  /// The backward pass needs the arena as the forward pass left it; it returns the score of the
  /// loss.
  void forward(dnnl::stream& stream);
  BatchScore backward(dnnl::stream& stream, const TrainableNetwork::GradientsReady& ready);

 private:
  /// A tensor that lives from the step that makes it to its last reader, or one on the host.
  struct Tensor {
    dnnl::memory::desc desc;
    int buffer = -1;         // index into arena_buffers_
    float* host = nullptr;   // used where `buffer` is -1
    std::size_t offset = 0;  // in bytes
  };
  struct ArenaBuffer {
    std::size_t bytes = 0;
    std::size_t first_step = 0;
    std::size_t last_step = 0;
    std::size_t offset = 0;
  };
  using Arguments = std::unordered_map<int, Tensor>;
  using Step = std::function<void(dnnl::stream&)>;

  // onednn_training_plan.cpp: memory and steps
  Tensor new_tensor(const dnnl::memory::desc& desc, int copies = 1);
  /// A memory object for the step that is added next; it gets its address in bind().
  dnnl::memory memory_of(const Tensor& tensor);
  void place_buffers();
  void add_primitive(const dnnl::primitive& primitive, const Arguments& arguments);
  void add_reorder(const Tensor& from, const Tensor& to);
  /// The tensor in the wanted layout and type: itself, or a copy.
  Tensor in_layout(const Tensor& tensor, const dnnl::memory::desc& wanted);
  /// The layer's result in the precision of this plan.
  Tensor typed(int layer);
  dnnl::memory::desc any(const Shape& shape) const;
  void add_output();
  void add_loss();
  void add_backward_pass();
  /// Adds a term to the gradient with respect to a layer's result.
  void contribute(int layer, const Tensor& gradient);
  /// The sum of these terms, in the layout of the result.
  Tensor gradient_of(int layer);

  // onednn_training_convolutions.cpp
  /// The offsets of a convolution's parameters in the blocks.
  struct Parameters {
    std::int64_t weights = 0;
    std::int64_t others = 0;  // scale and shift, or bias
    std::int64_t statistics = 0;
  };
  /// A primitive that reads weights or computes their gradient; in a backward pass the descriptors
  /// are those of gradients. With several parts it is a single-threaded primitive for one part of
  /// the images, which each thread runs on its part.
  struct WeightedPass {
    dnnl::primitive primitive;
    dnnl::memory::desc source;  // of all images
    dnnl::memory::desc weights;
    dnnl::memory::desc result;
    dnnl::memory::desc scratch;
    int parts = 1;
  };
  struct WeightedPasses {
    WeightedPass forward;
    WeightedPass backward_data;
    WeightedPass backward_weights;
  };
  /// A batch normalisation, the fused sum if any, and the activation after both.
  struct Normalisation {
    Tensor x;
    Tensor moments;  // means, then 1 / sqrt(variance + epsilon); padding channels included
    Tensor result;
    float slope = 1;                 // of the activation below zero
    std::optional<int> other_input;  // of the sum
  };
  static std::vector<Parameters> parameters_of(const Network& network);
  /// The number of parts into which threads divide the images of a convolution; 1: oneDNN's own
  /// threads.
  int parts_of(const Convolution& conv, int layer) const;
  WeightedPasses convolution(const Convolution& conv, int layer, int parts) const;
  WeightedPasses inner_product(const Convolution& conv, int layer) const;
  Tensor weights_of(const Convolution& conv, int layer, float* block) const;
  Tensor others_of(const Convolution& conv, int layer, float* block) const;
  void add(const Convolution& conv, int layer);
  void add_weighted(const WeightedPass& pass, const Arguments& arguments);
  /// Sums the copies of a tensor into a host block.
  void add_gathered(const Tensor& copies, int count, const Tensor& block);
  void add_weights_gradient(const Convolution& conv, int layer, const WeightedPass& pass,
                            const Tensor& source, const Tensor& gradient);
  void add_source_gradient(const Convolution& conv, int layer, const WeightedPass& pass,
                           const Tensor& gradient);

  // onednn_training_normalisation.cpp
  /// Also computes the sum given by fused_sums.
  Normalisation add_normalisation(const Convolution& conv, int layer, const Tensor& product);
  /// Returns the gradient with respect to the convolution's result.
  Tensor normalisation_back(const Convolution& conv, int layer, const Normalisation& normalisation,
                            const Tensor& gradient);

  // onednn_training_layers.cpp
  void add(const MaxPool& pool, int layer);
  void add(const AveragePool& pool, int layer);
  void add(const LocalResponseNorm& norm, int layer);
  void add(const Sum& sum, int layer);
  void add(const Route& route, int layer);
  template <class Op>
  void add(const Op&, int) {
    throw CannotRun("the oneDNN engine cannot train a layer of this network");
  }
  Tensor dropped(const Convolution& conv, int layer, const Tensor& tensor);
  void split_gradient(int layer);
  void add_pool(dnnl::algorithm algorithm, int layer, Extent kernel, int stride, int pad);
  Tensor activation_back(Activation activation, const Tensor& result, const Tensor& gradient);

  dnnl::engine engine_;
  const Network& network_;
  dnnl::memory::data_type type_;
  const TrainingOptions options_;
  int images_;
  TrainingBuffers buffers_;
  std::vector<Parameters> parameters_;  // of each layer
  std::vector<int> fused_sums_;         // computed with a batch normalisation
  Tensor image_;
  std::vector<Tensor> tensors_;                      // results of the layers
  std::vector<std::vector<Tensor>> contributions_;   // to the gradients with respect to them
  std::vector<std::function<void()>> add_backward_;  // of each layer, called in reverse
  std::vector<ArenaBuffer> arena_buffers_;
  std::size_t bytes_ = 0;
  std::size_t scratch_bytes_ = 0;
  struct Unbound {
    dnnl::memory object;
    int buffer;
    std::size_t offset;
  };
  std::vector<Unbound> unbound_;
  std::vector<Step> steps_;
  std::size_t forward_steps_ = 0;
  const TrainableNetwork::GradientsReady* ready_ = nullptr;
  BatchScore score_;
};

/// Plans by number of images, created on demand. They share one arena: only one of them can be
/// between its passes.
class TrainingPlans {
 public:
  TrainingPlans(const dnnl::engine& engine, const Network& network, const TrainingOptions& options,
                const TrainingBuffers& buffers)
      : engine_(engine), network_(network), options_(options), buffers_(buffers) {}

  TrainingPlan& of(int images);

 private:
  dnnl::engine engine_;
  const Network& network_;
  TrainingOptions options_;
  TrainingBuffers buffers_;
  std::size_t arena_bytes_ = 0;
  std::unique_ptr<Buffer> arena_;
  std::map<int, std::unique_ptr<TrainingPlan>> plans_;
};

}  // namespace doetune::workloads::onednn
