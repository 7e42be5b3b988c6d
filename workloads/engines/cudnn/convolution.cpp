#include "workloads/engines/cudnn/convolution.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

namespace doetune::workloads::cudnn {
namespace {

using Four = std::array<std::int64_t, 4>;  // images or filters, channels, height, width

struct TensorForm {
  std::int64_t id;
  cudnnDataType_t type;
  Four sizes;
  Four strides;
  bool is_virtual = false;
};

constexpr std::int64_t kAlignment = 16;  // bytes

Descriptor tensor(const TensorForm& form) {
  Descriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, form.id)
      .set(CUDNN_ATTR_TENSOR_DATA_TYPE, form.type)
      .set(CUDNN_ATTR_TENSOR_DIMENSIONS, std::span<const std::int64_t>(form.sizes))
      .set(CUDNN_ATTR_TENSOR_STRIDES, std::span<const std::int64_t>(form.strides))
      .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment)
      .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, form.is_virtual)
      .finalize();
  return made;
}

TensorForm activations(std::int64_t id, cudnnDataType_t type, int images, const Shape& shape,
                       std::int64_t pitch) {
  const std::int64_t row = pitch * shape.width;
  return {id,
          type,
          {images, shape.channels, shape.height, shape.width},
          {row * shape.height, 1, row, pitch}};
}

TensorForm intermediate(const ConvolutionCase& problem, std::int64_t id) {
  TensorForm form =
      activations(id, CUDNN_DATA_FLOAT, problem.images, problem.output, problem.output.channels);
  form.is_virtual = true;
  return form;
}

TensorForm weights(const ConvolutionCase& problem) {
  TensorForm form =
      activations(kWeightsId, data_type(problem.precision), problem.output.channels,
                  {problem.input.channels, problem.kernel.height, problem.kernel.width},
                  problem.input.channels);
  return form;
}

/// cuDNN's identifiers of an operation and its attributes.
struct ConvolutionOperation {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t form, input, weights, output, alpha, beta;
};

const ConvolutionOperation& operation_of(Pass pass) {
  static constexpr ConvolutionOperation kForward{
      CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  static constexpr ConvolutionOperation kBackwardData{
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  static constexpr ConvolutionOperation kBackwardFilter{
      CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  return pass == Pass::backward_data     ? kBackwardData
         : pass == Pass::backward_filter ? kBackwardFilter
                                         : kForward;
}

}  // namespace

cudnnDataType_t data_type(Precision precision) {
  return precision == Precision::bf16   ? CUDNN_DATA_BFLOAT16
         : precision == Precision::fp16 ? CUDNN_DATA_HALF
                                        : CUDNN_DATA_FLOAT;
}

std::string ConvolutionCase::key() const {
  constexpr std::array<char, 3> kActivations{'n', 'r', 'l'};
  constexpr std::array<std::string_view, 4> kPasses{"", " product", " by input", " by weights"};
  return fmt::format(
      "{} {}x{}x{}x{}/{} {}x{}/{} pad {}x{} -> {}x{}x{}/{} +{} {}{}{}", name_of(precision), images,
      input.height, input.width, input.channels, input_pitch, kernel.height, kernel.width, stride,
      pad.height, pad.width, output.height, output.width, output.channels, output_pitch,
      residual_pitch, kActivations[static_cast<std::size_t>(activation)],
      fusion == Fusion::bias ? " bias" : "", kPasses[static_cast<std::size_t>(pass)]);
}

int channel_multiple(Precision precision) {
  return static_cast<int>(kAlignment) / bytes_of(precision);
}

ConvolutionCase convolution_case(const Network& network, const TensorPlan& plan, int layer,
                                 Precision precision, int images) {
  const Layer& node = network.layers[layer];
  const auto& conv = std::get<Convolution>(node.op);
  const ChannelView& in = plan.view_of(node.inputs[0]);
  const ChannelView& out = plan.views[layer];
  ConvolutionCase problem{images, precision, network.shape_of(node.inputs[0]), node.output};
  problem.input.channels = in.channels;
  problem.output.channels = out.channels;
  problem.input_pitch = in.pitch;
  problem.output_pitch = out.pitch;
  problem.kernel = conv.kernel;
  problem.stride = conv.stride;
  problem.pad = conv.pad;
  problem.activation = conv.activation;
  if (const int sum = plan.fused[layer]; sum >= 0) {
    problem.residual_pitch = plan.view_of(other_input(network, sum, layer)).pitch;
    problem.activation = std::get<Sum>(network.layers[sum].op).activation;
  }
  const bool fully_connected = conv.kernel == Extent{problem.input.height, problem.input.width} &&
                               conv.pad == Extent{0, 0} && in.pitch == in.channels;
  if (fully_connected) {
    const auto inputs = static_cast<int>(problem.input.elements());
    problem.input = {inputs, 1, 1};
    problem.input_pitch = inputs;
    problem.kernel = {1, 1};
    problem.stride = 1;
  }
  return problem;
}

int other_input(const Network& network, int sum, int layer) {
  const auto& inputs = network.layers[sum].inputs;
  return inputs[0] == layer ? inputs[1] : inputs[0];
}

ConvolutionCase split(ConvolutionCase whole) {
  whole.residual_pitch = 0;
  whole.activation = Activation::linear;
  whole.fusion = Fusion::bias;
  return whole;
}

bool has_more_than_bias(const ConvolutionCase& problem) {
  return problem.residual_pitch > 0 || problem.activation != Activation::linear;
}

ConvolutionCase pass_of(ConvolutionCase whole, Pass pass) {
  whole.residual_pitch = 0;
  whole.activation = Activation::linear;
  whole.pass = pass;
  return whole;
}

Descriptor& ConvolutionGraph::keep(Descriptor descriptor) {
  return *kept_.emplace_back(std::make_unique<Descriptor>(std::move(descriptor)));
}

const Descriptor& ConvolutionGraph::form_of(const ConvolutionCase& problem) {
  using Two = std::array<std::int64_t, 2>;
  const Two pads{problem.pad.height, problem.pad.width};
  const Two strides{problem.stride, problem.stride};
  const Two dilations{1, 1};
  Descriptor& form = keep(Descriptor(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR));
  return form.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT)
      .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
      .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{2})
      .set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, std::span<const std::int64_t>(pads))
      .set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, std::span<const std::int64_t>(pads))
      .set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, std::span<const std::int64_t>(strides))
      .set(CUDNN_ATTR_CONVOLUTION_DILATIONS, std::span<const std::int64_t>(dilations))
      .finalize();
}

/// The convolution or one of its gradients; `to` is the result tensor.
Descriptor ConvolutionGraph::convolve(const ConvolutionCase& problem, const Descriptor& to) {
  const ConvolutionOperation& names = operation_of(problem.pass);
  const Descriptor& input = keep(tensor(activations(
      kInputId, data_type(problem.precision), problem.images, problem.input, problem.input_pitch)));
  const Descriptor& filters = keep(tensor(weights(problem)));
  Descriptor operation(names.type);
  operation.set(names.form, form_of(problem))
      .set(names.input, input)
      .set(names.weights, filters)
      .set(names.output, to)
      .set(names.alpha, 1.0F)
      .set(names.beta, 0.0F)
      .finalize();
  return operation;
}

Descriptor ConvolutionGraph::pointwise(const ConvolutionCase& problem, cudnnPointwiseMode_t mode,
                                       const Descriptor& from, const Descriptor* other,
                                       const Descriptor& to) {
  Descriptor& form = keep(Descriptor(CUDNN_BACKEND_POINTWISE_DESCRIPTOR));
  form.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_FLOAT);
  if (mode == CUDNN_POINTWISE_RELU_FWD && problem.activation == Activation::leaky)
    form.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, static_cast<double>(kLeakySlope));
  form.finalize();
  Descriptor operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, form)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, from)
      .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, to);
  if (other != nullptr) operation.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *other);
  operation.finalize();
  return operation;
}

ConvolutionGraph::ConvolutionGraph(const ConvolutionCase& problem, cudnnHandle_t handle)
    : graph_(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  std::vector<Descriptor> operations;
  if (problem.pass == Pass::forward)
    add_end(problem, operations);
  else
    operations.push_back(convolve(problem, result(problem)));
  if (handle != nullptr) graph_.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle);
  graph_.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, std::span<const Descriptor>(operations)).finalize();
  for (Descriptor& operation : operations) keep(std::move(operation));
}

const Descriptor& ConvolutionGraph::result(const ConvolutionCase& problem) {
  return keep(tensor(activations(kOutputId, data_type(problem.precision), problem.images,
                                 problem.output, problem.output_pitch)));
}

/// The operations after the convolution: residual, bias, activation.
void ConvolutionGraph::add_end(const ConvolutionCase& problem,
                               std::vector<Descriptor>& operations) {
  const cudnnDataType_t type = data_type(problem.precision);
  std::int64_t next_id = kOutputId + 1;
  const auto next = [&](bool last) -> const Descriptor& {
    return last ? result(problem) : keep(tensor(intermediate(problem, next_id++)));
  };
  const bool activated = problem.activation != Activation::linear;
  const Descriptor* value = &next(false);
  operations.push_back(convolve(problem, *value));
  const auto then = [&](cudnnPointwiseMode_t mode, const Descriptor* other, bool last) {
    const Descriptor& to = next(last);
    operations.push_back(pointwise(problem, mode, *value, other, to));
    value = &to;
  };
  if (problem.residual_pitch > 0)
    then(CUDNN_POINTWISE_ADD,
         &keep(tensor(activations(kResidualId, type, problem.images, problem.output,
                                  problem.residual_pitch))),
         false);
  then(CUDNN_POINTWISE_ADD,
       &keep(tensor(activations(kBiasId, type, 1, {problem.output.channels, 1, 1},
                                problem.output.channels))),
       !activated);
  if (activated) then(CUDNN_POINTWISE_RELU_FWD, nullptr, true);
}

}  // namespace doetune::workloads::cudnn
