// Products with the weights of a decoder, each by what was fastest on this GPU.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
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

/// The matrix of a product's first layer, and rows.
using ProductKey = std::pair<const void*, int>;

/// Which of its ways was chosen for each product of a model, by the first decoder that has it.
using ProductChoices = std::map<ProductKey, std::size_t>;

/// The products of one decoder, submitted to its stream.
class GpuProducts {
 public:
  /// The choices must outlive this.
  GpuProducts(Precision precision, cudaStream_t stream, ProductChoices& choices);

  /// Chooses the way to compute the product of the launch's rows: that of `choices`, or else by
  /// timing, with the matrices of several layers in turn, as a cache would hold one. Runs it, so
  /// that its kernels are loaded. What the product writes is lost. By one thread of the process at
  /// a time (cudnn::Preparation).
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

  std::vector<Way> ways(int rows, const Product& product) const;
  std::size_t fastest(const std::vector<Way>& ways, const StepLaunch& launch, const StepView& step,
                      const Product& product);
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
  ProductChoices& choices_;
  std::map<ProductKey, Way> ways_;  // chosen
};

}  // namespace doetune::workloads::language
