// Convolutions as cuDNN problems: shapes and strides independent of the network, and the operation
// graph.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "workloads/engines/cudnn/backend.h"
#include "workloads/engines/engine.h"
#include "workloads/engines/tensor_plan.h"
#include "workloads/networks/network.h"

namespace doetune::workloads::cudnn {

/// The operations after a convolution that cuDNN's graph includes.
///   bias:        out = convolution + bias
///   everything:  out = activation(convolution + residual + bias)
enum class Fusion { bias, everything };

/// What is computed: the result with the operations of `Fusion`, the result alone, or the gradient
/// with respect to the input or the weights, given that with respect to the result.
enum class Pass { forward, product, backward_data, backward_filter };

/// A convolution over `images` images. Tensors are NHWC; their pixels are `pitch` channels apart,
/// more than the tensor's own channels where it is part of a concatenated tensor.
struct ConvolutionCase {
  int images = 1;
  Precision precision = Precision::fp32;
  Shape input;
  Shape output;
  int input_pitch = 0;
  int output_pitch = 0;
  int residual_pitch = 0;  // 0: no residual
  Extent kernel{};
  int stride = 1;
  Extent pad{};
  Activation activation = Activation::linear;
  Fusion fusion = Fusion::everything;
  Pass pass = Pass::forward;

  /// Equal texts for equal cases: the key of cached plans.
  std::string key() const;
};

/// The number of channels in the 16 bytes that kernels read at a time.
int channel_multiple(Precision precision);

/// The convolution at index `layer`. One whose kernel covers its whole input (fully connected)
/// becomes a 1 x 1 convolution of the flattened input, where that is contiguous.
ConvolutionCase convolution_case(const Network& network, const TensorPlan& plan, int layer,
                                 Precision precision, int images);

/// The input of the sum at index `sum` that is not the convolution at index `layer`.
int other_input(const Network& network, int sum, int layer);

/// With `fusion` set to bias: the residual and the activation are left to our own kernel.
ConvolutionCase split(ConvolutionCase whole);

/// Whether `everything` includes more than `bias`.
bool has_more_than_bias(const ConvolutionCase& problem);

/// The same convolution in another pass, without residual, bias and activation.
ConvolutionCase pass_of(ConvolutionCase whole, Pass pass);

/// Identifiers of the tensors in a plan. In a backward pass the identifier of input, weights or
/// output stands for the gradient with respect to it.
enum TensorId : std::int64_t { kInputId = 1, kWeightsId, kBiasId, kResidualId, kOutputId };

cudnnDataType_t data_type(Precision precision);

/// The finalised operation graph of a case:
///   convolution -> [+ residual] -> + bias -> [ReLU, with a slope below zero for leaky]
/// connected by virtual fp32 tensors, the residual before the bias: the order and types for which
/// cuDNN has precompiled kernels; or the single operation of another pass. Weights, and the
/// gradient with respect to them, are filters x height x width x channels in the type of the
/// precision. `handle` may be null where the device is given by its properties alone.
class ConvolutionGraph {
 public:
  ConvolutionGraph(const ConvolutionCase& problem, cudnnHandle_t handle);
  const Descriptor& graph() const { return graph_; }

 private:
  void add_end(const ConvolutionCase& problem, std::vector<Descriptor>& operations);
  const Descriptor& result(const ConvolutionCase& problem);
  const Descriptor& form_of(const ConvolutionCase& problem);
  Descriptor convolve(const ConvolutionCase& problem, const Descriptor& to);
  Descriptor pointwise(const ConvolutionCase& problem, cudnnPointwiseMode_t mode,
                       const Descriptor& from, const Descriptor* other, const Descriptor& to);
  Descriptor& keep(Descriptor descriptor);

  std::vector<std::unique_ptr<Descriptor>> kept_;  // the operations refer to them
  Descriptor graph_;
};

}  // namespace doetune::workloads::cudnn
