// Matrix products: the functions of cublasLt that the engines call.
#include <cublasLt.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "host_gpu.h"
#include "machine.h"

namespace {

struct Product {
  cublasOperation_t first = CUBLAS_OP_N;
};

/// Column-major.
struct Layout {
  cudaDataType_t type;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t stride;
};

constexpr int kAlgorithms = 2;

/// fp32 or bf16.
double number(const void* data, cudaDataType_t type, std::int64_t i) {
  if (type == CUDA_R_32F) return static_cast<double>(static_cast<const float*>(data)[i]);
  const std::uint32_t bits = static_cast<const std::uint16_t*>(data)[i];
  return static_cast<double>(std::bit_cast<float>(bits << 16));
}

/// c = op(a) b + beta c, c of fp32.
void multiply(cublasOperation_t first, const Layout& a, const void* a_data, const Layout& b,
              const void* b_data, float beta, const Layout& c, float* c_data) {
  for (std::int64_t j = 0; j < c.columns; ++j)
    for (std::int64_t i = 0; i < c.rows; ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < b.rows; ++l)
        sum += number(a_data, a.type, first == CUBLAS_OP_T ? l + i * a.stride : i + l * a.stride) *
               number(b_data, b.type, l + j * b.stride);
      float& to = c_data[i + j * c.stride];
      to = static_cast<float>(sum) + (beta == 0 ? 0 : beta * to);
    }
}

template <class To, class From>
To& as(From* opaque) {
  return *reinterpret_cast<To*>(opaque);
}

}  // namespace

const char* cublasLtGetStatusString(cublasStatus_t) { return "an error of the host GPU"; }
std::size_t cublasLtGetVersion() { return 130000; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (!doetune::host_gpu::can_create()) return CUBLAS_STATUS_ALLOC_FAILED;
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t,
                                        cudaDataType_t) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete &as<Product>(product);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, std::size_t bytes) {
  if (which != CUBLASLT_MATMUL_DESC_TRANSA) return CUBLAS_STATUS_NOT_SUPPORTED;
  std::memcpy(&as<Product>(product).first, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t stride) {
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{
      type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), stride});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &as<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<int*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

/// Shapes that fit each other have two algorithms.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int most,
                                              cublasLtMatmulHeuristicResult_t* found, int* count) {
  const bool transposed = as<Product>(product).first == CUBLAS_OP_T;
  const auto& [type, rows, columns, stride] = as<Layout>(a);
  const auto& result = as<Layout>(c);
  if (c != d || type != as<Layout>(b).type || result.type != CUDA_R_32F || stride < rows ||
      (transposed ? rows : columns) != as<Layout>(b).rows ||
      (transposed ? columns : rows) != result.rows || as<Layout>(b).columns != result.columns)
    return CUBLAS_STATUS_INVALID_VALUE;
  const std::lock_guard lock(doetune::host_gpu::machine());
  ++doetune::host_gpu::counted().algorithm_searches;
  *count = kAlgorithms < most ? kAlgorithms : most;
  for (int i = 0; i < *count; ++i) found[i] = {};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void*,
                              const void* a_data, cublasLtMatrixLayout_t a, const void* b_data,
                              cublasLtMatrixLayout_t b, const void* beta, const void*,
                              cublasLtMatrixLayout_t c, void* c_data, cublasLtMatrixLayout_t,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t,
                              cudaStream_t stream) {
  doetune::host_gpu::submit(
      stream, [first = as<Product>(product).first, a = as<Layout>(a), b = as<Layout>(b),
               c = as<Layout>(c), a_data, b_data, c_data, add = *static_cast<const float*>(beta)] {
        multiply(first, a, a_data, b, b_data, add, c, static_cast<float*>(c_data));
      });
  return CUBLAS_STATUS_SUCCESS;
}
