// A 3 x 3 convolution in fp32 by the Winograd transform F(4x4, 3x3), for processors with AVX2 and
// without AVX-512, for which oneDNN has none.
#pragma once

#include <cstddef>

#include "workloads/engines/onednn/winograd_kernels.h"
#include "workloads/shape.h"

namespace doetune::workloads::onednn {

/// The convolution's images, all in memory as blocks of 8 channels (nChw8c).
struct WinogradShape {
  int images;
  Shape in;     // channels: a multiple of 8
  int filters;  // a multiple of 8
  Extent pad;   // 0 or 1 each; the stride is 1

  Shape out() const {
    return {filters, in.height + 2 * pad.height - 2, in.width + 2 * pad.width - 2};
  }
};

/// Tiles of 4 x 4 outputs that cover the outputs of all images.
int winograd_tiles(int images, const Shape& out);

/// Numbers in transformed weights.
std::size_t winograd_weights(int in_channels, int filters);

/// Transforms weights (filters x inputs x 3 x 3) to 36 positions x panels of 16 filters x inputs
/// x 16. Filters that the last panel lacks are zeros.
void transform_weights(const float* weights, int in_channels, int filters, float* to);

/// y = activation(convolution of x + bias [+ y]). Threads of OpenMP divide the tiles among
/// themselves, or, where these are few, the blocks of channels; results do not depend on it. Errors
/// are about 2e-6 of the largest output.
class WinogradConvolution {
 public:
  WinogradConvolution(const WinogradShape& shape, int threads);

  struct Arguments {
    const float* x;
    const float* weights;  // transformed
    const float* bias;
    float* y;
    float* scratch;    // scratch() numbers
    bool accumulates;  // into y
    float slope;       // of the activation below zero
  };

  std::size_t scratch() const;
  void run(const Arguments& arguments) const;

 private:
  /// A tile's image and the row and column of its first output.
  struct Origin {
    int image;
    int row;
    int column;
  };

  static std::ptrdiff_t distance(int blocks, int tiles);
  std::size_t scratch_at_once() const;
  void run_tiles(const Arguments& arguments, int first, int tiles, float* patches) const;
  Origin origin(int tile) const;
  void transform_input(const float* x, int block, int tile,
                       const winograd::Positions<float>& to) const;
  void transform_output(const Arguments& arguments, int block, int tile,
                        const winograd::Positions<const float>& products) const;

  WinogradShape shape_;
  Shape out_;
  int threads_;
  int tile_rows_;
  int tile_columns_;
  int tiles_;           // of all images
  bool divides_tiles_;  // among threads
  int tiles_at_once_;   // whose transformed data is in memory
};

}  // namespace doetune::workloads::onednn
