// CUDA kernels for the copies and matrix products.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "workloads/engines/engine.h"

namespace doetune::workloads::cuda {

/// z = a x + b y over `count` numbers, a multiple of 4; z = a x where y is null.
void combine(float a, const float* x, float b, const float* y, float* z, std::int64_t count,
             cudaStream_t stream);

/// Converts floats to numbers of a precision, and back; both on the device. Asynchronous.
void from_floats(const float* from, void* to, Precision precision, std::int64_t count);
void to_floats(const void* from, float* to, Precision precision, std::int64_t count);

}  // namespace doetune::workloads::cuda
