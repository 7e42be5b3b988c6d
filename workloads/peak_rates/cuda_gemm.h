// Matrix products by cublasLt.
#pragma once

#include <cstddef>
#include <memory>

#include "workloads/peak_rates/operation.h"

namespace doetune::workloads::cuda {

/// Throws CannotRun.
std::unique_ptr<Operation> make_gemm(const Gemm& gemm);

/// The version of cublasLt.
std::size_t gemm_library_version();

}  // namespace doetune::workloads::cuda
