#include "workloads/cuda/matrix_product.h"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string>

namespace doetune::workloads::cuda {
namespace {

constexpr int kMaxAlgorithms = 8;

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const std::string what = std::string("cublasLt: ") + cublasLtGetStatusString(status);
  // Kernels are loaded when they are first run, which also takes memory.
  if (status == CUBLAS_STATUS_ALLOC_FAILED || cudaGetLastError() == cudaErrorMemoryAllocation)
    throw CannotRun("not enough GPU memory: " + what);
  throw std::runtime_error(what);
}

cudaDataType_t data_type(Precision precision) {
  if (precision == Precision::bf16) return CUDA_R_16BF;
  return precision == Precision::fp16 ? CUDA_R_16F : CUDA_R_32F;
}

cublasComputeType_t compute_type(Precision precision) {
  return precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// A row-major matrix: the library's are column-major, so it is the transposed one.
void lay_out(cublasLtMatrixLayout_t* layout, cudaDataType_t type, std::int64_t rows,
             std::int64_t columns) {
  check(cublasLtMatrixLayoutCreate(layout, type, static_cast<std::uint64_t>(columns),
                                   static_cast<std::uint64_t>(rows), columns));
}

}  // namespace

ProductLibrary::ProductLibrary() { check(cublasLtCreate(handle_.out())); }

MatrixProduct::MatrixProduct(const ProductLibrary& library, const ProductShape& shape)
    : library_(library.get()), shape_(shape) {
  describe();
  find_algorithms();
}

/// Column-major, the product is C^T = B^T A^T, so the first operand is B.
void MatrixProduct::describe() {
  check(cublasLtMatmulDescCreate(product_.out(), compute_type(shape_.precision), CUDA_R_32F));
  const cublasOperation_t first = shape_.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  check(cublasLtMatmulDescSetAttribute(product_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &first,
                                       sizeof first));
  const cudaDataType_t type = data_type(shape_.precision);
  if (shape_.transpose_b)
    lay_out(b_.out(), type, shape_.n, shape_.k);
  else
    lay_out(b_.out(), type, shape_.k, shape_.n);
  lay_out(a_.out(), type, shape_.m, shape_.k);
  lay_out(c_.out(), shape_.float_result ? CUDA_R_32F : type, shape_.m, shape_.n);
}

void MatrixProduct::find_algorithms() {
  Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> preference;
  check(cublasLtMatmulPreferenceCreate(preference.out()));
  check(cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                             CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                             &kProductWorkspace, sizeof kProductWorkspace));
  std::array<cublasLtMatmulHeuristicResult_t, kMaxAlgorithms> found{};
  int count = 0;
  const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
      library_, product_.get(), b_.get(), a_.get(), c_.get(), c_.get(), preference.get(),
      kMaxAlgorithms, found.data(), &count);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED || count == 0)
    throw CannotRun(fmt::format("cublasLt has no product of {} x {} by {} x {} in {} on this GPU",
                                shape_.m, shape_.k, shape_.k, shape_.n, name_of(shape_.precision)));
  check(status);
  for (int i = 0; i < count; ++i) algorithms_.push_back(found[static_cast<std::size_t>(i)].algo);
}

void MatrixProduct::run(int algorithm, const ProductOperands& operands, cudaStream_t stream) const {
  const float one = 1;
  const float add = shape_.add ? 1 : 0;
  check(cublasLtMatmul(library_, product_.get(), &one, operands.b, b_.get(), operands.a, a_.get(),
                       &add, operands.c, c_.get(), operands.c, c_.get(),
                       &algorithms_.at(static_cast<std::size_t>(algorithm)), operands.workspace,
                       kProductWorkspace, stream));
}

}  // namespace doetune::workloads::cuda
