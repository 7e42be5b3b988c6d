// Matrix products by cublasLt and copies by kernels and copy engines, on the first visible GPU.
#pragma once

#include <memory>

#include "workloads/peak_rates/operation.h"

namespace doetune::workloads {

/// Throws NoDevice.
std::unique_ptr<Device> open_cuda_device();

}  // namespace doetune::workloads
