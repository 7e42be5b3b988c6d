#include "workloads/peak_rates/cuda_gemm.h"

#include <cublasLt.h>
#include <fmt/format.h>

#include <array>

#include "workloads/peak_rates/cuda_arrays.h"

namespace doetune::workloads::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // NVIDIA's advice for Hopper
constexpr int kCandidates = 8;                                  // algorithms timed
constexpr const char* kMatrix = "a matrix of the product";

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string("cublasLt: ") + cublasLtGetStatusString(status));
}

cudaDataType_t data_type(Precision precision) {
  if (precision == Precision::bf16) return CUDA_R_16BF;
  return precision == Precision::fp16 ? CUDA_R_16F : CUDA_R_32F;
}

cublasComputeType_t compute_type(Precision precision) {
  return precision == Precision::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

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

using Library = Owned<cublasLtHandle_t, cublasLtDestroy>;
using Product = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

/// cublasLt is column-major: C^T = B^T A^T, so its first operand is B.
class CudaGemm final : public Operation {
 public:
  explicit CudaGemm(const Gemm& gemm)
      : gemm_(gemm),
        a_(bytes(gemm.m * gemm.k), kMatrix),
        b_(bytes(gemm.k * gemm.n), kMatrix),
        c_(bytes(gemm.m * gemm.n), kMatrix),
        workspace_(kWorkspaceBytes, "the workspace of a product") {
    set(a_, gemm.m * gemm.k, gemm.precision, gemm_a);
    set(b_, gemm.k * gemm.n, gemm.precision, gemm_b);
    check(cublasLtCreate(library_.out()));
    describe();
    choose();
  }

  double seconds(int repetitions) override {
    return timeline_.seconds(repetitions, [&] { check(run(algorithm_)); });
  }

  std::vector<float> result() override { return read(c_, gemm_.m * gemm_.n, gemm_.precision); }

 private:
  std::int64_t bytes(std::int64_t count) const {
    return count * static_cast<std::int64_t>(bytes_of(gemm_.precision));
  }

  void describe() {
    check(cublasLtMatmulDescCreate(product_.out(), compute_type(gemm_.precision), CUDA_R_32F));
    const cublasOperation_t first = gemm_.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(product_.get(), CUBLASLT_MATMUL_DESC_TRANSA, &first,
                                         sizeof first));
    const auto rows = static_cast<std::uint64_t>(gemm_.transpose_b ? gemm_.k : gemm_.n);
    const auto columns = static_cast<std::uint64_t>(gemm_.transpose_b ? gemm_.n : gemm_.k);
    const auto m = static_cast<std::uint64_t>(gemm_.m);
    const cudaDataType_t type = data_type(gemm_.precision);
    check(cublasLtMatrixLayoutCreate(b_layout_.out(), type, rows, columns,
                                     static_cast<std::int64_t>(rows)));
    check(cublasLtMatrixLayoutCreate(a_layout_.out(), type, static_cast<std::uint64_t>(gemm_.k), m,
                                     gemm_.k));
    check(cublasLtMatrixLayoutCreate(c_layout_.out(), type, static_cast<std::uint64_t>(gemm_.n), m,
                                     gemm_.n));
  }

  cublasStatus_t run(const cublasLtMatmulAlgo_t& algorithm) {
    const float one = 1;
    const float zero = 0;
    return cublasLtMatmul(library_.get(), product_.get(), &one, b_.data(), b_layout_.get(),
                          a_.data(), a_layout_.get(), &zero, c_.data(), c_layout_.get(), c_.data(),
                          c_layout_.get(), &algorithm, workspace_.data(), kWorkspaceBytes,
                          timeline_.stream());
  }

  /// Selects the fastest of the algorithms that cublasLt proposes, each timed after one warm-up
  /// run.
  void choose() {
    Preference preference;
    check(cublasLtMatmulPreferenceCreate(preference.out()));
    check(cublasLtMatmulPreferenceSetAttribute(preference.get(),
                                               CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspaceBytes, sizeof kWorkspaceBytes));
    std::array<cublasLtMatmulHeuristicResult_t, kCandidates> found{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library_.get(), product_.get(), b_layout_.get(), a_layout_.get(), c_layout_.get(),
        c_layout_.get(), preference.get(), kCandidates, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || count == 0)
      throw CannotRun(
          fmt::format("cublasLt has no such product in {} on this GPU", name_of(gemm_.precision)));
    check(status);
    double best_s = 0;
    for (int i = 0; i < count; ++i) {
      const auto runs = [&] { check(run(found[static_cast<std::size_t>(i)].algo)); };
      timeline_.seconds(1, runs);
      const double taken_s = timeline_.seconds(1, runs);
      if (i > 0 && taken_s >= best_s) continue;
      best_s = taken_s;
      algorithm_ = found[static_cast<std::size_t>(i)].algo;
    }
  }

  Gemm gemm_;
  Timeline timeline_;
  DeviceBuffer a_;
  DeviceBuffer b_;
  DeviceBuffer c_;
  DeviceBuffer workspace_;
  Library library_;
  Product product_;
  Layout a_layout_;
  Layout b_layout_;
  Layout c_layout_;
  cublasLtMatmulAlgo_t algorithm_{};
};

}  // namespace

std::unique_ptr<Operation> make_gemm(const Gemm& gemm) { return std::make_unique<CudaGemm>(gemm); }

std::size_t gemm_library_version() { return cublasLtGetVersion(); }

}  // namespace doetune::workloads::cuda
