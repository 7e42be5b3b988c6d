// The convolutions that a training step runs in cuDNN.
#pragma once

#include "workloads/engines/cudnn/convolution.h"

namespace doetune::workloads::cudnn {

/// The three of one layer. Where the layer has a batch normalisation, forward is the convolution
/// alone, into a tensor of its own; else it is that of inference, with residual, bias and
/// activation. What dropout leaves of an input has no gaps between pixels. The gradient by the
/// result comes without gaps between pixels, and so goes the one by the input, so that cuDNN's
/// compiled engines serve all of them.
struct TrainingConvolutions {
  ConvolutionCase forward;
  ConvolutionCase backward_data;
  ConvolutionCase backward_filter;
};

TrainingConvolutions training_convolutions(const Network& network, const TensorPlan& plan,
                                           int layer, Precision precision, int images);

}  // namespace doetune::workloads::cudnn
