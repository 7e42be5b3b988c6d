// Matrix products by cublasLt and copies by kernels and the copy engines, on the first GPU that
// this process sees.
#pragma once

#include <memory>

#include "workloads/peak_rates/operation.h"

namespace doetune::workloads {

/// Throws NoDevice.
std::unique_ptr<Device> open_cuda_device();

}  // namespace doetune::workloads
