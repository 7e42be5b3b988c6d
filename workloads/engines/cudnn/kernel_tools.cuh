// Utilities for kernels: numbers of any precision, 16-byte groups of channels, and launching.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <string>

#include "workloads/cuda/launch.cuh"
#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/kernels.h"

namespace doetune::workloads::cudnn {

constexpr int kThreads = 256;

__device__ inline float to_float(float value) { return value; }
__device__ inline float to_float(__nv_bfloat16 value) { return __bfloat162float(value); }
__device__ inline float to_float(__half value) { return __half2float(value); }

template <class T>
__device__ T from_float(float value);
template <>
__device__ inline float from_float<float>(float value) {
  return value;
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}
template <>
__device__ inline __half from_float<__half>(float value) {
  return __float2half_rn(value);
}

/// 16 bytes of channels.
template <class T>
struct alignas(16) Group {
  static constexpr int kSize = 16 / sizeof(T);
  T values[kSize];
};

template <class T>
__device__ const Group<T>& group_at(const View& view, int image, int y, int x, int group) {
  return reinterpret_cast<const Group<T>*>(static_cast<const T*>(view.data) +
                                           pixel_at(view, image, y, x))[group];
}

template <class T>
__device__ Group<T>& group_of(const View& view, const Position& at) {
  return reinterpret_cast<Group<T>*>(static_cast<T*>(view.data) +
                                     pixel_at(view, at.image, at.y, at.x))[at.channel];
}

/// The position of this thread's group of channels in `to`; false beyond the last.
template <class T>
__device__ bool my_group(const View& to, std::uint32_t count, Position& position) {
  const std::uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= count) return false;
  position = position_of(index, to.channels / Group<T>::kSize, to.height, to.width);
  return true;
}

__device__ inline bool my_index(std::uint32_t count, std::uint32_t& index) {
  index = blockIdx.x * kThreads + threadIdx.x;
  return index < count;
}

__device__ inline float activated(float value, float slope) {
  return value < 0.0F ? value * slope : value;
}

// -- launching ------------------------------------------------------------------------------------

/// The thread indices of the last block must fit in 32 bits too.
constexpr std::int64_t kMax = (std::int64_t{1} << 32) - kThreads;

inline std::uint32_t in_range(std::int64_t count) {
  if (count > kMax)
    throw CannotRun("a tensor of " + std::to_string(count) +
                    " elements is too large for the GPU engine; take a smaller batch");
  return static_cast<std::uint32_t>(count);
}

/// The number of pixels of all images.
inline std::int64_t pixels(const Launch& launch, const View& view) {
  return static_cast<std::int64_t>(launch.images) * view.height * view.width;
}

template <class T>
std::uint32_t groups(const Launch& launch, const View& view) {
  return in_range(pixels(launch, view) * (view.channels / Group<T>::kSize));
}

template <class Kernel, class... Arguments>
void start(const Launch& launch, Kernel kernel, std::uint32_t count, Arguments... arguments) {
  const auto blocks = static_cast<unsigned int>((std::int64_t{count} + kThreads - 1) / kThreads);
  cuda::launch_kernel(launch.stream, blocks, kThreads, kernel, arguments..., count);
}

/// Calls work(T{}) with the type of the precision.
template <class Work>
void typed(Precision precision, Work work) {
  if (precision == Precision::bf16) return work(__nv_bfloat16{});
  if (precision == Precision::fp16) return work(__half{});
  work(float{});
}

}  // namespace doetune::workloads::cudnn
