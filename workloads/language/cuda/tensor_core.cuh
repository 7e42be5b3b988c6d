// A product of a warp's tensor core.
#pragma once

#include <cstdint>

#include "workloads/language/cuda/warp.cuh"

namespace doetune::workloads::language {

/// c += a b, where a is 16 x 16, b 16 x 8 and c 16 x 8; all lanes of the warp must call it. With
/// q = lane / 4 and t = lane % 4, a lane has (PTX ISA, "Matrix Fragments for mma.m16n8k16")
///   a[0], a[1]: columns 2 t, 2 t + 1 of the rows q, q + 8;  a[2], a[3]: columns 2 t + 8, 2 t + 9
///   b[0]: rows 2 t, 2 t + 1 of column q;                    b[1]: rows 2 t + 8, 2 t + 9
///   c[0], c[1]: columns 2 t, 2 t + 1 of row q;              c[2], c[3]: of row q + 8
__device__ inline void multiply_add(float (&c)[4], const std::uint32_t (&a)[4],
                                    const std::uint32_t (&b)[2]) {
#ifdef __CUDA_ARCH__
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  // Where kernels are compiled for the host: every lane gathers what all lanes have.
  const auto number = [](std::uint32_t pair, int which) {
    return which == 0 ? first_of(pair) : second_of(pair);
  };
  const auto lane = static_cast<int>(threadIdx.x % kWarp);
  float all_a[16][16];
  float all_b[16][8];
  for (int mask = 0; mask < kWarp; ++mask) {
    const int q = (lane ^ mask) / 4;
    const int t = (lane ^ mask) % 4;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t pair = from_lane(a[i], mask);
      for (int k = 0; k < 2; ++k) all_a[q + i % 2 * 8][2 * t + i / 2 * 8 + k] = number(pair, k);
    }
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t pair = from_lane(b[i], mask);
      for (int k = 0; k < 2; ++k) all_b[2 * t + i * 8 + k][q] = number(pair, k);
    }
  }
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 16; ++k)
      c[i] += all_a[lane / 4 + i / 2 * 8][k] * all_b[k][2 * (lane % 4) + i % 2];
#endif
}

}  // namespace doetune::workloads::language
