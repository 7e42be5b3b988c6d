// The loops of the Winograd transform F(4x4, 3x3) for processors with AVX2 and fused
// multiply-add; the caller ensures both.
//
// For a tile d of 6 x 6 pixels, filters g of 3 x 3 and the 4 x 4 outputs Y of one filter:
//   Y = A^T [sum over input channels of (G g G^T) * (B^T d B)] A,   * elementwise,
// so 36 multiplications replace 144. Source: A. Lavin and S. Gray (2016), "Fast Algorithms for
// Convolutional Neural Networks", arXiv:1509.09308, section 4.3.
//
// Channels are in blocks of 8, one vector. Tiles and their products are stored as
// 36 positions x blocks x tiles x 8 channels.
#pragma once

#include <cstddef>

#include "workloads/shape.h"

namespace doetune::workloads::onednn::winograd {

constexpr int kTile = 4;   // outputs of a tile in each direction
constexpr int kPatch = 6;  // the inputs they depend on
constexpr int kPositions = kPatch * kPatch;
constexpr int kLanes = 8;   // channels of a block
constexpr int kPanel = 16;  // filters that multiply() computes

/// A rectangle of an image's pixels with 8 channels each, in rows of `stride` numbers.
template <class Number>
struct Rectangle {
  Number* first;
  std::ptrdiff_t stride;
};

/// A vector of 8 channels for each of the 36 positions, `distance` numbers apart.
template <class Number>
struct Positions {
  Number* first;
  std::ptrdiff_t distance;
};

/// B^T d B.
void transform_patch(const Rectangle<const float>& patch, const Positions<float>& to);

/// G g G^T of one filter's 9 weights: 36 numbers.
void transform_filter(const float* weights, float* to);

/// What follows the sum over input channels.
struct Epilogue {
  const float* bias;  // of 8 filters
  bool accumulates;   // add the numbers in memory
  float slope;        // of the activation below zero
};

/// activation(A^T m A + bias [+ y]), for those of the 4 x 4 outputs that are `inside`.
void transform_products(const Positions<const float>& products, const Epilogue& epilogue,
                        const Extent& inside, const Rectangle<float>& y);

/// One position of all tiles: blocks x tiles x 8 channels.
struct TileMatrix {
  const float* first;
  int tiles;
  int blocks;
};

/// Products of all tiles with a panel of 16 filters (`filters`: input channels x 16), stored as
/// 1 or 2 blocks. The order of summation does not depend on the number of tiles.
void multiply(const TileMatrix& tiles, const float* filters, int result_blocks, float* results);

}  // namespace doetune::workloads::onednn::winograd
