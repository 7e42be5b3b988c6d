// Matrix products by cublasLt.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/engines/engine.h"

namespace doetune::workloads::cuda {

/// Owns a cublasLt object.
template <class Handle, cublasStatus_t (*Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (handle_ != nullptr) Destroy(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

/// The library's state. Throws CannotRun where GPU memory is lacking.
class ProductLibrary {
 public:
  ProductLibrary();
  cublasLtHandle_t get() const { return handle_.get(); }

 private:
  Owned<cublasLtHandle_t, cublasLtDestroy> handle_;
};

/// C = A B, or C += A B where `add`: A is m x k, B is k x n, or n x k where it is transposed, and
/// C is m x n, all row-major. A and B have the precision; sums are fp32.
struct ProductShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Precision precision{};
  bool transpose_b = false;
  bool float_result = false;  ///< C is fp32, whatever the precision
  bool add = false;
};

struct ProductOperands {
  const void* a;
  const void* b;
  void* c;
  void* workspace;  ///< of kProductWorkspace bytes
};

inline constexpr std::size_t kProductWorkspace = std::size_t{32} << 20;  // NVIDIA's for Hopper

class MatrixProduct {
 public:
  /// Throws CannotRun if the library has no such product. It must outlive this.
  MatrixProduct(const ProductLibrary& library, const ProductShape& shape);

  /// The number of algorithms that the library proposes, the best in its opinion first; at most 8.
  int algorithms() const { return static_cast<int>(algorithms_.size()); }

  void run(int algorithm, const ProductOperands& operands, cudaStream_t stream) const;

 private:
  using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;

  void describe();
  void find_algorithms();

  cublasLtHandle_t library_;
  ProductShape shape_;
  Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> product_;
  Layout a_;
  Layout b_;
  Layout c_;
  std::vector<cublasLtMatmulAlgo_t> algorithms_;
};

}  // namespace doetune::workloads::cuda
