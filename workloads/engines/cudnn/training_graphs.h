// The convolutions of a training step that run in cuDNN.
#pragma once

#include "workloads/engines/cudnn/convolution.h"

namespace doetune::workloads::cudnn {

/// The three convolutions of one layer. With batch normalisation, forward is the bare convolution,
/// into a tensor of its own; without, it is that of inference, with residual, bias and activation.
/// The input after dropout has no gaps between pixels. Neither have the gradients with respect to
/// the result and to the input, so that cuDNN's precompiled engines support all three.
struct TrainingConvolutions {
  ConvolutionCase forward;
  ConvolutionCase backward_data;
  ConvolutionCase backward_filter;
};

TrainingConvolutions training_convolutions(const Network& network, const TensorPlan& plan,
                                           int layer, Precision precision, int images);

}  // namespace doetune::workloads::cudnn
