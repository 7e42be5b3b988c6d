// The CPU engine: convolution with bias and activation as one oneDNN primitive, layouts chosen by
// oneDNN, every reorder of weights done once.
#pragma once

#include <memory>

#include "workloads/engine.h"

namespace doetune::workloads {

std::unique_ptr<Engine> make_onednn_engine();

}  // namespace doetune::workloads
