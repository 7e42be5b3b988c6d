#include "workloads/engines/cudnn/training_graphs.h"

namespace doetune::workloads::cudnn {

TrainingConvolutions training_convolutions(const Network& network, const TensorPlan& plan,
                                           int layer, Precision precision, int images) {
  ConvolutionCase inference = convolution_case(network, plan, layer, precision, images);
  ConvolutionCase dense = inference;
  dense.output_pitch = dense.output.channels;
  const auto& conv = std::get<Convolution>(network.layers[layer].op);
  if (conv.dropout > 0) inference.input_pitch = dense.input_pitch = dense.input.channels;
  TrainingConvolutions passes;
  passes.forward = conv.batch_norm ? pass_of(dense, Pass::product) : inference;
  passes.backward_filter = pass_of(dense, Pass::backward_filter);
  dense.input_pitch = dense.input.channels;
  passes.backward_data = pass_of(dense, Pass::backward_data);
  return passes;
}

}  // namespace doetune::workloads::cudnn
