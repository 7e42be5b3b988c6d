#include "workloads/engines/onednn/winograd_kernels.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numbers>

#define DOETUNE_AVX2 __attribute__((target("avx2,fma")))
#define DOETUNE_AVX2_INLINE inline __attribute__((target("avx2,fma"), always_inline))

namespace doetune::workloads::onednn::winograd {
namespace {

using Vector [[gnu::vector_size(4 * kLanes)]] = float;

DOETUNE_AVX2_INLINE Vector load(const float* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

DOETUNE_AVX2_INLINE void store(const Vector& vector, float* to) {
  std::memcpy(to, &vector, sizeof vector);
}

// The points of interpolation are 0, +-kNear, +-kFar and infinity. With the paper's +-1 and +-2,
// the errors of random layers were three to four times as large.
constexpr double kNear = 1 / std::numbers::sqrt2;
constexpr double kFar = std::numbers::sqrt2;
constexpr float kNear1 = static_cast<float>(kNear);
constexpr float kNear2 = 0.5F;
constexpr float kNear3 = kNear1 / 2;
constexpr float kFar1 = static_cast<float>(kFar);
constexpr float kFar2 = 2.0F;
constexpr float kFar3 = kFar1 * 2;

/// B^T d.
DOETUNE_AVX2_INLINE void transform_input(const Vector (&d)[kPatch], Vector (&to)[kPatch]) {
  const Vector near_even = d[4] - kFar2 * d[2];
  const Vector near_odd = kNear1 * (d[3] - kFar2 * d[1]);
  const Vector far_even = d[4] - kNear2 * d[2];
  const Vector far_odd = kFar1 * (d[3] - kNear2 * d[1]);
  to[0] = d[0] - (kNear2 + kFar2) * d[2] + d[4];
  to[1] = near_even + near_odd;
  to[2] = near_even - near_odd;
  to[3] = far_even + far_odd;
  to[4] = far_even - far_odd;
  to[5] = d[1] - (kNear2 + kFar2) * d[3] + d[5];
}

/// A^T m.
DOETUNE_AVX2_INLINE void transform_output(const Vector (&m)[kPatch], Vector (&to)[kTile]) {
  const Vector near_even = m[1] + m[2];
  const Vector near_odd = m[1] - m[2];
  const Vector far_even = m[3] + m[4];
  const Vector far_odd = m[3] - m[4];
  to[0] = m[0] + near_even + far_even;
  to[1] = kNear1 * near_odd + kFar1 * far_odd;
  to[2] = kNear2 * near_even + kFar2 * far_even;
  to[3] = kNear3 * near_odd + kFar3 * far_odd + m[5];
}

// As many tiles as leave registers for a panel's two vectors and one channel of a tile.
constexpr int kTilesAtOnce = 6;
// Blocks of channels that are summed up before they are added to the result: their part of a panel
// stays in the first-level cache, and short sums have smaller errors (1.5e-6 of the largest output
// with 256 channels, against 3.3e-6 in one sum).
constexpr int kDepth = 8;

/// Adds products of a few tiles and some blocks of channels to the results, or stores the first.
template <int kTiles>
DOETUNE_AVX2 void multiply_tiles(const float* tiles, std::ptrdiff_t distance, int blocks,
                                 const float* filters, bool is_first, float* low, float* high) {
  Vector sums[kTiles][2];
#pragma GCC unroll 8
  for (int tile = 0; tile < kTiles; ++tile) {
    sums[tile][0] = Vector{};
    sums[tile][1] = Vector{};
  }
  for (int block = 0; block < blocks; ++block, tiles += distance) {
#pragma GCC unroll 8
    for (int channel = 0; channel < kLanes; ++channel, filters += kPanel) {
      const Vector left = load(filters);
      const Vector right = load(filters + kLanes);
#pragma GCC unroll 8
      for (int tile = 0; tile < kTiles; ++tile) {
        const float value = tiles[tile * kLanes + channel];
        sums[tile][0] += value * left;
        sums[tile][1] += value * right;
      }
    }
  }
#pragma GCC unroll 8
  for (int tile = 0; tile < kTiles; ++tile) {
    if (!is_first) {
      sums[tile][0] += load(low + tile * kLanes);
      sums[tile][1] += load(high + tile * kLanes);
    }
    store(sums[tile][0], low + tile * kLanes);
    store(sums[tile][1], high + tile * kLanes);
  }
}

using MultiplyTiles = void (*)(const float*, std::ptrdiff_t, int, const float*, bool, float*,
                               float*);
constexpr MultiplyTiles kMultiplyTiles[] = {multiply_tiles<1>, multiply_tiles<2>,
                                            multiply_tiles<3>, multiply_tiles<4>,
                                            multiply_tiles<5>, multiply_tiles<6>};

}  // namespace

DOETUNE_AVX2 void transform_patch(const Rectangle<const float>& patch, const Positions<float>& to) {
  Vector columns[kPatch][kPatch];  // by column, then position
#pragma GCC unroll 8
  for (int x = 0; x < kPatch; ++x) {
    Vector column[kPatch];
#pragma GCC unroll 8
    for (int y = 0; y < kPatch; ++y) column[y] = load(patch.first + y * patch.stride + x * kLanes);
    transform_input(column, columns[x]);
  }
#pragma GCC unroll 8
  for (int y = 0; y < kPatch; ++y) {
    Vector row[kPatch];
    Vector transformed[kPatch];
#pragma GCC unroll 8
    for (int x = 0; x < kPatch; ++x) row[x] = columns[x][y];
    transform_input(row, transformed);
#pragma GCC unroll 8
    for (int x = 0; x < kPatch; ++x)
      store(transformed[x], to.first + (y * kPatch + x) * to.distance);
  }
}

DOETUNE_AVX2 void transform_products(const Positions<const float>& products,
                                     const Epilogue& epilogue, const Extent& inside,
                                     const Rectangle<float>& y) {
  Vector half[kPatch][kTile];  // by row of products, then column of outputs
#pragma GCC unroll 8
  for (int i = 0; i < kPatch; ++i) {
    Vector row[kPatch];
#pragma GCC unroll 8
    for (int j = 0; j < kPatch; ++j)
      row[j] = load(products.first + (i * kPatch + j) * products.distance);
    transform_output(row, half[i]);
  }
  const Vector bias = load(epilogue.bias);
#pragma GCC unroll 8
  for (int column = 0; column < kTile; ++column) {
    if (column >= inside.width) break;
    Vector transformed[kPatch];
    Vector outputs[kTile];
#pragma GCC unroll 8
    for (int i = 0; i < kPatch; ++i) transformed[i] = half[i][column];
    transform_output(transformed, outputs);
#pragma GCC unroll 8
    for (int row = 0; row < kTile; ++row) {
      if (row >= inside.height) break;
      float* to = y.first + row * y.stride + column * kLanes;
      Vector value = outputs[row] + bias;
      if (epilogue.accumulates) value += load(to);
      value = value < 0 ? value * epilogue.slope : value;
      store(value, to);
    }
  }
}

void transform_filter(const float* weights, float* to) {
  constexpr double kG[kPatch][3] = {{1, 0, 0},
                                    {-2.0 / 3, -2.0 / 3 * kNear, -1.0 / 3},
                                    {-2.0 / 3, 2.0 / 3 * kNear, -1.0 / 3},
                                    {1.0 / 6, 1.0 / 6 * kFar, 1.0 / 3},
                                    {1.0 / 6, -1.0 / 6 * kFar, 1.0 / 3},
                                    {0, 0, 1}};
  double rows[kPatch][3];
  for (int i = 0; i < kPatch; ++i)
    for (int j = 0; j < 3; ++j)
      rows[i][j] = kG[i][0] * weights[j] + kG[i][1] * weights[3 + j] + kG[i][2] * weights[6 + j];
  for (int i = 0; i < kPatch; ++i)
    for (int j = 0; j < kPatch; ++j)
      to[i * kPatch + j] =
          static_cast<float>(rows[i][0] * kG[j][0] + rows[i][1] * kG[j][1] + rows[i][2] * kG[j][2]);
}

void multiply(const TileMatrix& matrix, const float* filters, int result_blocks, float* results) {
  const std::ptrdiff_t distance = std::ptrdiff_t{matrix.tiles} * kLanes;
  float unused[kTilesAtOnce * kLanes];  // of the second half of a panel that has none
  std::fill_n(unused, std::size(unused), 0.0F);
  for (int block = 0; block < matrix.blocks; block += kDepth) {
    const int blocks = std::min(kDepth, matrix.blocks - block);
    const float* panel = filters + std::ptrdiff_t{block} * kLanes * kPanel;
    for (int tile = 0; tile < matrix.tiles; tile += kTilesAtOnce) {
      const int count = std::min(kTilesAtOnce, matrix.tiles - tile);
      const std::ptrdiff_t at = std::ptrdiff_t{tile} * kLanes;
      kMultiplyTiles[count - 1](matrix.first + block * distance + at, distance, blocks, panel,
                                block == 0, results + at,
                                result_blocks > 1 ? results + distance + at : unused);
    }
  }
}

}  // namespace doetune::workloads::onednn::winograd
