// Products with the weights of a decoder, each by what was fastest on this GPU.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "workloads/cuda/matrix_product.h"
#include "workloads/engines/cudnn/device.h"
#include "workloads/language/cuda/gpu_weights.h"

namespace doetune::workloads::language {

/// Of one stream.
class GpuProducts {
 public:
  GpuProducts(Precision precision, cudaStream_t stream);

  /// Chooses the way to multiply so many rows, by timing, with the matrices of several layers in
  /// turn, as a cache would hold one. `from` and `to` have room for the rows; what is in `to` is
  /// lost. Nothing if it was chosen before.
  void prepare(const LayerMatrices& matrices, int rows, const void* from, float* to, bool add);

  /// to = from matrix^T, or to += where `add`, of the prepared number of rows.
  void multiply(const LayerMatrices& matrices, int layer, int rows, const void* from, float* to,
                bool add) const;

  std::int64_t bytes() const { return workspace_.bytes(); }

 private:
  /// By the kernel for few rows, or by one of the library's algorithms.
  struct Way {
    std::shared_ptr<const cuda::MatrixProduct> product;
    int algorithm = 0;
  };
  /// Rows and columns of the matrix, rows multiplied, whether to add.
  using Key = std::tuple<std::int64_t, std::int64_t, int, bool>;

  static Key key(const LayerMatrices& matrices, int rows, bool add) {
    return {matrices.rows, matrices.columns, rows, add};
  }
  void run(const Way& way, const LayerMatrices& matrices, int layer, int rows, const void* from,
           float* to, bool add) const;
  double seconds(const Way& way, const LayerMatrices& matrices, int rows, const void* from,
                 float* to, bool add);

  Precision precision_;
  cudaStream_t stream_;
  cuda::ProductLibrary library_;
  cudnn::DeviceBuffer workspace_;
  cudnn::Event begin_{cudnn::Event::Kind::timing};
  cudnn::Event end_{cudnn::Event::Kind::timing};
  std::map<Key, Way> ways_;
};

}  // namespace doetune::workloads::language
