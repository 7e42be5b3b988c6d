#include "workloads/language/cuda/gpu_kernels.h"

#include "workloads/engines/cudnn/kernel_tools.cuh"
#include "workloads/language/cuda/warp.cuh"

namespace doetune::workloads::language {
namespace {

using cuda::launch_early;
using cuda::wait_for_previous;
using cudnn::from_float;
using cudnn::kThreads;
using cudnn::to_float;

constexpr int kWarps = kThreads / kWarp;

__device__ float silu(float z) { return z / (1 + expf(-z)); }

template <class T>
__global__ void draw_kernel(Draw numbers, std::int64_t count, T* to) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += step)
    to[i] = from_float<T>(numbers.at(i));
}

template <class T>
__global__ void embed_kernel(StepView step, const T* embedding, int width, float* x) {
  const int row = static_cast<int>(blockIdx.x);
  wait_for_previous();
  if (row >= step.header->rows) return;
  const T* from = embedding + static_cast<std::int64_t>(step.rows[row].token) * width;
  float* to = x + static_cast<std::int64_t>(row) * width;
  for (int i = static_cast<int>(threadIdx.x); i < width; i += kThreads) to[i] = to_float(from[i]);
}

/// The sum over the threads of the block; every one of them must call it.
__device__ float block_sum(float value) {
  __shared__ float sums[kWarps];
  for (int mask = kWarp / 2; mask > 0; mask /= 2) value += from_lane(value, mask);
  if (threadIdx.x % kWarp == 0) sums[threadIdx.x / kWarp] = value;
  __syncthreads();
  float total = 0;
  for (const float each : sums) total += each;
  return total;
}

/// Four numbers.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T values[4];
};

/// A thread keeps its part of the row, as one block has a row that others wait for.
template <class T>
__global__ void normalise_kernel(StepView step, bool last_rows, const float* x, const T* gains,
                                 int width, T* to) {
  constexpr int kKept = 8;  // fours of a thread, of rows of up to 8192 numbers
  const int i = static_cast<int>(blockIdx.x);
  const int fours = width / 4;
  const auto first = static_cast<int>(threadIdx.x);
  wait_for_previous();
  if (i >= (last_rows ? step.header->predictions : step.header->rows)) return;
  const auto* from = reinterpret_cast<const Four<float>*>(
      x + static_cast<std::int64_t>(last_rows ? step.last[i] : i) * width);
  const auto* gain = reinterpret_cast<const Four<T>*>(gains);
  Four<float> kept[kKept];
  float squares = 0;
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    if (first + k * kThreads < fours) {
      kept[k] = from[first + k * kThreads];
      for (const float value : kept[k].values) squares += value * value;
    }
  for (int j = first + kKept * kThreads; j < fours; j += kThreads)
    for (const float value : from[j].values) squares += value * value;
  const float factor = 1 / sqrtf(block_sum(squares) / static_cast<float>(width) + kNormEpsilon);
  auto* out = reinterpret_cast<Four<T>*>(to + static_cast<std::int64_t>(i) * width);
  const auto write = [&](int j, const Four<float>& values) {
    const Four<T> by = gain[j];
    Four<T> result;
    for (int e = 0; e < 4; ++e)
      result.values[e] = from_float<T>(values.values[e] * factor * to_float(by.values[e]));
    out[j] = result;
  };
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    if (first + k * kThreads < fours) write(first + k * kThreads, kept[k]);
  for (int j = first + kKept * kThreads; j < fours; j += kThreads) write(j, from[j]);
}

template <class T>
__global__ void gate_kernel(StepView step, const float* gates, int width, T* to) {
  const int row = static_cast<int>(blockIdx.y);
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  wait_for_previous();
  if (row >= step.header->rows || i >= width) return;
  const float* from = gates + 2 * static_cast<std::int64_t>(row) * width;
  const float z = from[i];
  to[static_cast<std::int64_t>(row) * width + i] = from_float<T>(silu(z) * from[width + i]);
}

constexpr int kSearchers = 1024;

struct Best {
  float value;
  int index;
};

__device__ Best better(const Best& a, const Best& b) {
  return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

__global__ void most_likely_kernel(StepView step, const float* logits, int vocabulary, int* next) {
  __shared__ Best found[kSearchers / kWarp];
  const int i = static_cast<int>(blockIdx.x);
  wait_for_previous();
  if (i >= step.header->predictions) return;
  const float* from = logits + static_cast<std::int64_t>(i) * vocabulary;
  Best best{-INFINITY, vocabulary};
  for (int token = static_cast<int>(threadIdx.x); token < vocabulary; token += kSearchers)
    best = better(best, {from[token], token});
  for (int mask = kWarp / 2; mask > 0; mask /= 2)
    best = better(best, {from_lane(best.value, mask), from_lane(best.index, mask)});
  if (threadIdx.x % kWarp == 0) found[threadIdx.x / kWarp] = best;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (const Best& each : found) best = better(best, each);
  next[i] = best.index < vocabulary ? best.index : 0;
}

// -- products of few rows -------------------------------------------------------------------------
// A warp computes an output of all rows, or the two that are multiplied where the product is gated:
// the weights are read once, the inputs from the cache of the multiprocessor.

constexpr int kAhead = 8;  // vectors of weights that a thread reads at once

/// 16 bytes of weights or inputs.
using Vector = uint4;

/// Takes no place in the multiprocessor's cache, where the inputs are.
__device__ Vector read_once(const Vector* from) {
#if defined(__CUDA_ARCH__)
  Vector result;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(result.x), "=r"(result.y), "=r"(result.z), "=r"(result.w)
               : "l"(from));
  return result;
#else
  return *from;
#endif
}

/// sum + a b, of a number of fp32 or of two of bf16.
template <class T>
__device__ float multiply_add(std::uint32_t a, std::uint32_t b, float sum) {
  if constexpr (sizeof(T) == sizeof(float)) return sum + float_of(a) * float_of(b);
  sum += first_of(a) * first_of(b);
  return sum + second_of(a) * second_of(b);
}

template <class T>
__device__ float multiply_add(const Vector& a, const Vector& b, float sum) {
  sum = multiply_add<T>(a.x, b.x, sum);
  sum = multiply_add<T>(a.y, b.y, sum);
  sum = multiply_add<T>(a.z, b.z, sum);
  return multiply_add<T>(a.w, b.w, sum);
}

/// Blocks of a multiprocessor, whose reads overlap: as many as need no more registers than it has.
template <int kRows>
constexpr int kBlocksAtOnce = kRows == 1 ? 4 : 3;

/// Weights that a thread reads at once.
template <int kOutputs>
struct Ahead {
  static constexpr int kVectors = kAhead / kOutputs;  // of each output
  Vector values[kVectors][kOutputs];
};

template <int kOutputs>
__device__ Ahead<kOutputs> read_ahead(const Vector* const (&weights)[kOutputs], int first,
                                      int vectors) {
  Ahead<kOutputs> ahead;
#pragma unroll
  for (int i = 0; i < ahead.kVectors; ++i) {
    const int v = first + i * kWarp;
#pragma unroll
    for (int o = 0; o < kOutputs; ++o)
      ahead.values[i][o] = v < vectors ? read_once(weights[o] + v) : Vector{};
  }
  return ahead;
}

template <class T, int kRows, bool kGated>
__global__ void __launch_bounds__(kThreads, kBlocksAtOnce<kRows>) few_rows_kernel(FewRows product) {
  constexpr int kOutputs = kGated ? 2 : 1;
  const auto lane = static_cast<int>(threadIdx.x % kWarp);
  const int number = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x / kWarp);
  const int count = product.n / kOutputs;
  const bool active = number < count;
  const int vectors = product.k / static_cast<int>(sizeof(Vector) / sizeof(T));
  const int mine = active ? number : count - 1;  // beyond the last, it is computed again
  const Vector* weights[kOutputs];
  for (int o = 0; o < kOutputs; ++o)
    weights[o] = static_cast<const Vector*>(product.weights) +
                 static_cast<std::int64_t>(mine + o * count) * vectors;
  auto ahead = read_ahead(weights, lane, vectors);  // no kernel before writes weights

  wait_for_previous();
  const auto* from = static_cast<const Vector*>(product.from);
  float sums[kRows][kOutputs] = {};
  for (int first = lane; first < vectors; first += ahead.kVectors * kWarp) {
    if (first != lane) ahead = read_ahead(weights, first, vectors);
#pragma unroll
    for (int i = 0; i < ahead.kVectors; ++i) {
      const int v = first + i * kWarp;
      if (v >= vectors) continue;
#pragma unroll
      for (int m = 0; m < kRows; ++m) {
        if (m >= product.rows) continue;
        const Vector x = from[m * vectors + v];
#pragma unroll
        for (int o = 0; o < kOutputs; ++o)
          sums[m][o] = multiply_add<T>(x, ahead.values[i][o], sums[m][o]);
      }
    }
  }
#pragma unroll
  for (int m = 0; m < kRows; ++m) {
#pragma unroll
    for (int o = 0; o < kOutputs; ++o)
      for (int mask = kWarp / 2; mask > 0; mask /= 2) sums[m][o] += from_lane(sums[m][o], mask);
    if (lane != 0 || !active || m >= product.rows) continue;
    const std::int64_t at = static_cast<std::int64_t>(m) * count + number;
    if constexpr (kGated)
      static_cast<T*>(product.gated)[at] = from_float<T>(silu(sums[m][0]) * sums[m][1]);
    else
      product.to[at] = product.add ? product.to[at] + sums[m][0] : sums[m][0];
  }
}

template <class T, int kRows>
void start_few_rows(cudaStream_t stream, const FewRows& product) {
  const bool gated = product.gated != nullptr;
  const int count = gated ? product.n / 2 : product.n;
  const dim3 blocks(static_cast<unsigned int>((count + kWarps - 1) / kWarps));
  launch_early(stream, blocks, kThreads,
               gated ? few_rows_kernel<T, kRows, true> : few_rows_kernel<T, kRows, false>, product);
}

unsigned int blocks_of(int count) {
  return static_cast<unsigned int>((count + kThreads - 1) / kThreads);
}

}  // namespace

void draw(cudaStream_t stream, Precision precision, const Draw& numbers, std::int64_t count,
          void* to) {
  constexpr std::int64_t kMaxBlocks = 132 * 8;
  const auto blocks =
      static_cast<unsigned int>(std::min(kMaxBlocks, (count + kThreads - 1) / kThreads));
  typed(precision, [&]<class T>(T) {
    cuda::launch_kernel(stream, blocks, kThreads, draw_kernel<T>, numbers, count,
                        static_cast<T*>(to));
  });
}

void embed(const StepLaunch& launch, const StepView& step, const void* embedding, int width,
           float* x) {
  typed(launch.precision, [&]<class T>(T) {
    launch_early(launch.stream, static_cast<unsigned int>(launch.rows), kThreads, embed_kernel<T>,
                 step, static_cast<const T*>(embedding), width, x);
  });
}

void normalise(const StepLaunch& launch, const StepView& step, bool last_rows, const float* x,
               const void* gains, int width, void* to) {
  const auto rows = static_cast<unsigned int>(last_rows ? launch.predictions : launch.rows);
  typed(launch.precision, [&]<class T>(T) {
    launch_early(launch.stream, rows, kThreads, normalise_kernel<T>, step, last_rows, x,
                 static_cast<const T*>(gains), width, static_cast<T*>(to));
  });
}

void gate(const StepLaunch& launch, const StepView& step, const float* gates, int width, void* to) {
  const dim3 blocks(blocks_of(width), static_cast<unsigned int>(launch.rows));
  typed(launch.precision, [&]<class T>(T) {
    launch_early(launch.stream, blocks, kThreads, gate_kernel<T>, step, gates, width,
                 static_cast<T*>(to));
  });
}

void most_likely(const StepLaunch& launch, const StepView& step, const float* logits,
                 int vocabulary, int* next) {
  launch_early(launch.stream, static_cast<unsigned int>(launch.predictions), kSearchers,
               most_likely_kernel, step, logits, vocabulary, next);
}

void multiply_few_rows(cudaStream_t stream, Precision precision, const FewRows& product) {
  typed(precision, [&]<class T>(T) {
    if (product.rows == 1) return start_few_rows<T, 1>(stream, product);
    if (product.rows == 2) return start_few_rows<T, 2>(stream, product);
    start_few_rows<T, kMaxFewRows>(stream, product);
  });
}

}  // namespace doetune::workloads::language
