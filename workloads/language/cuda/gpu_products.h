// Products with the weights of a decoder, each by what was fastest on this GPU.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "workloads/cuda/matrix_product.h"
#include "workloads/engines/cudnn/device.h"
#include "workloads/language/cuda/gpu_kernels.h"
#include "workloads/language/cuda/gpu_weights.h"

namespace doetune::workloads::language {

/// to = from matrix^T, or to += where `add`, with what comes before and after it.
struct Product {
  LayerMatrices matrices;
  void* from = nullptr;  ///< rows of numbers of the weights' precision
  float* to = nullptr;
  bool add = false;
  const float* x = nullptr;             ///< where it is set, from = norm(x, gains) before
  std::vector<const void*> gains = {};  ///< of each layer
  bool last_rows = false;               ///< of x: those before a prediction
  void* gated = nullptr;                ///< where it is set, gated = gate(to) (gpu_kernels.h) after
};

/// The products of one decoder, submitted to its stream.
class GpuProducts {
 public:
  GpuProducts(Precision precision, cudaStream_t stream);

  /// Chooses the way to compute the product of the launch's rows, by timing, with the matrices of
  /// several layers in turn, as a cache would hold one. What the product writes is lost. Nothing if
  /// it was chosen before.
  void prepare(const StepLaunch& launch, const StepView& step, const Product& product);

  /// Submits the prepared product.
  void multiply(const StepLaunch& launch, const StepView& step, const Product& product,
                int layer) const;

 private:
  /// By the kernel for few rows, or by one of the library's algorithms.
  struct Way {
    std::shared_ptr<const cuda::MatrixProduct> product;
    int algorithm = 0;
  };
  /// The product's output, and rows.
  using Key = std::tuple<const void*, std::int64_t, int>;

  static Key key(const StepLaunch& launch, const Product& product);
  std::vector<Way> ways(int rows, const Product& product) const;
  void run(const Way& way, const StepLaunch& launch, const StepView& step, const Product& product,
           int layer) const;
  double seconds(const Way& way, const StepLaunch& launch, const StepView& step,
                 const Product& product);

  Precision precision_;
  cudaStream_t stream_;
  cuda::ProductLibrary library_;
  cudnn::DeviceBuffer workspace_;
  cudnn::Event begin_{cudnn::Event::Kind::timing};
  cudnn::Event end_{cudnn::Event::Kind::timing};
  std::map<Key, Way> ways_;
};

}  // namespace doetune::workloads::language
