// Convolutions as cuDNN sees them: shapes and strides without a network, and the operation graph of
// one.
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

/// What of a convolution's end is done in cuDNN's graph.
///   bias:        out = convolution + bias
///   everything:  out = activation(convolution + residual + bias)
enum class Fusion { bias, everything };

/// What is worked out of a convolution: its result with what `Fusion` adds, its result alone, or a
/// gradient by its input or by its weights from the gradient by its result.
enum class Pass { forward, product, backward_data, backward_filter };

/// A convolution over `images` images. Tensors are NHWC; pixels of one lie `pitch` channels apart,
/// which is more than it has channels where it is part of a joined tensor.
struct ConvolutionCase {
  int images = 1;
  Precision precision = Precision::fp32;
  Shape input;
  Shape output;
  int input_pitch = 0;
  int output_pitch = 0;
  int residual_pitch = 0;  // 0: nothing is added
  Extent kernel{};
  int stride = 1;
  Extent pad{};
  Activation activation = Activation::linear;
  Fusion fusion = Fusion::everything;
  Pass pass = Pass::forward;

  /// The same text for the same case: the key of chosen plans.
  std::string key() const;
};

/// How many channels fill the 16 bytes that kernels read at a time.
int channel_multiple(Precision precision);

/// The convolution at index `layer`. One whose kernel is its whole input (fully connected) is a 1 x
/// 1 convolution of the flattened input, where that lies in one piece.
ConvolutionCase convolution_case(const Network& network, const TensorPlan& plan, int layer,
                                 Precision precision, int images);

/// What the sum at index `sum` adds to the result of the convolution at index `layer`.
int other_input(const Network& network, int sum, int layer);

/// `fusion` set to bias: the residual and the activation left to a kernel of our own.
ConvolutionCase split(ConvolutionCase whole);

/// Whether `everything` asks for more than `bias` does.
bool has_more_than_bias(const ConvolutionCase& problem);

/// The same convolution in another pass: nothing is added or activated.
ConvolutionCase pass_of(ConvolutionCase whole, Pass pass);

/// cuDNN's names for the tensors that a plan is run with. In a backward pass the input, the weights
/// or the output is the gradient by it.
enum TensorId : std::int64_t { kInputId = 1, kWeightsId, kBiasId, kResidualId, kOutputId };

cudnnDataType_t data_type(Precision precision);

/// The finalised operation graph of a case:
///   convolution -> [+ residual] -> + bias -> [ReLU, with a slope below zero for leaky]
/// joined by virtual fp32 tensors, the residual before the bias: the order and types that cuDNN has
/// compiled kernels for; or the one operation of another pass. Weights, and the gradient by them,
/// are filters x height x width x channels in the type of the precision. `handle` may be null where
/// the device is given by its properties alone.
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

  std::vector<std::unique_ptr<Descriptor>> kept_;  // operations refer to them
  Descriptor graph_;
};

}  // namespace doetune::workloads::cudnn
