// The kernels of the copies and products on a GPU.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "workloads/engines/engine.h"

namespace doetune::workloads::cuda {

/// z = a x + b y over `count` numbers, a multiple of 4; without y where it is null.
void combine(float a, const float* x, float b, const float* y, float* z, std::int64_t count,
             cudaStream_t stream);

/// Numbers of a precision from floats, and back; both on the device. Asynchronous.
void from_floats(const float* from, void* to, Precision precision, std::int64_t count);
void to_floats(const void* from, float* to, Precision precision, std::int64_t count);

}  // namespace doetune::workloads::cuda
