#include "workloads/peak_rates/cuda_gemm.h"

#include "workloads/cuda/matrix_product.h"
#include "workloads/peak_rates/cuda_arrays.h"

namespace doetune::workloads::cuda {
namespace {

constexpr const char* kMatrix = "a matrix of the product";

class CudaGemm final : public Operation {
 public:
  explicit CudaGemm(const Gemm& gemm)
      : gemm_(gemm),
        a_(bytes(gemm.m * gemm.k), kMatrix),
        b_(bytes(gemm.k * gemm.n), kMatrix),
        c_(bytes(gemm.m * gemm.n), kMatrix),
        workspace_(kProductWorkspace, "the workspace of a product"),
        product_(library_, {gemm.m, gemm.n, gemm.k, gemm.precision, gemm.transpose_b}) {
    set(a_, gemm.m * gemm.k, gemm.precision, gemm_a);
    set(b_, gemm.k * gemm.n, gemm.precision, gemm_b);
    choose();
  }

  double seconds(int repetitions) override { return seconds(repetitions, algorithm_); }

  std::vector<float> result() override { return read(c_, gemm_.m * gemm_.n, gemm_.precision); }

 private:
  std::int64_t bytes(std::int64_t count) const {
    return count * static_cast<std::int64_t>(bytes_of(gemm_.precision));
  }

  double seconds(int repetitions, int algorithm) {
    return timeline_.seconds(repetitions, [&] {
      product_.run(algorithm, {a_.data(), b_.data(), c_.data(), workspace_.data()},
                   timeline_.stream());
    });
  }

  /// Selects the fastest of the algorithms, each timed after one warm-up run.
  void choose() {
    double best_s = 0;
    for (int i = 0; i < product_.algorithms(); ++i) {
      seconds(1, i);
      const double taken_s = seconds(1, i);
      if (i > 0 && taken_s >= best_s) continue;
      best_s = taken_s;
      algorithm_ = i;
    }
  }

  Gemm gemm_;
  Timeline timeline_;
  DeviceBuffer a_;
  DeviceBuffer b_;
  DeviceBuffer c_;
  DeviceBuffer workspace_;
  ProductLibrary library_;
  MatrixProduct product_;
  int algorithm_ = 0;
};

}  // namespace

std::unique_ptr<Operation> make_gemm(const Gemm& gemm) { return std::make_unique<CudaGemm>(gemm); }

std::size_t gemm_library_version() { return cublasLtGetVersion(); }

}  // namespace doetune::workloads::cuda
