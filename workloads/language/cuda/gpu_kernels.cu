#include "workloads/language/cuda/gpu_kernels.h"

#include "workloads/engines/cudnn/kernel_tools.cuh"
#include "workloads/language/cuda/warp.cuh"

namespace doetune::workloads::language {
namespace {

using cuda::launch_kernel;
using cudnn::from_float;
using cudnn::kThreads;
using cudnn::to_float;

constexpr int kWarps = kThreads / kWarp;

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

template <class T>
__global__ void normalise_kernel(StepView step, bool last_rows, const float* x, const T* gains,
                                 int width, T* to) {
  const int i = static_cast<int>(blockIdx.x);
  if (i >= (last_rows ? step.header->predictions : step.header->rows)) return;
  const float* from = x + static_cast<std::int64_t>(last_rows ? step.last[i] : i) * width;
  const auto first = static_cast<int>(threadIdx.x);
  float squares = 0;
  for (int j = first; j < width; j += kThreads) squares += from[j] * from[j];
  const float mean = block_sum(squares) / static_cast<float>(width);
  const float factor = 1 / sqrtf(mean + kNormEpsilon);
  for (int j = first; j < width; j += kThreads)
    to[static_cast<std::int64_t>(i) * width + j] =
        from_float<T>(from[j] * factor * to_float(gains[j]));
}

template <class T>
__global__ void gate_kernel(StepView step, const float* gates, int width, T* to) {
  const int row = static_cast<int>(blockIdx.y);
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (row >= step.header->rows || i >= width) return;
  const float* from = gates + 2 * static_cast<std::int64_t>(row) * width;
  const float z = from[i];
  to[static_cast<std::int64_t>(row) * width + i] =
      from_float<T>(z / (1 + expf(-z)) * from[width + i]);
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
// A warp computes two outputs of all rows: the weights are read once, the inputs from the cache of
// the multiprocessor.

constexpr int kOutputs = 2;  // of a warp

template <class T, int kRows>
__global__ void few_rows_kernel(FewRows product) {
  constexpr int kSize = cudnn::Group<T>::kSize;
  using Vector = cudnn::Group<T>;
  const auto lane = static_cast<int>(threadIdx.x % kWarp);
  const int n =
      (static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x / kWarp)) * kOutputs;
  if (n >= product.n) return;
  const int outputs = product.n - n < kOutputs ? product.n - n : kOutputs;
  const int vectors = product.k / kSize;
  const auto* weights =
      static_cast<const Vector*>(product.weights) + static_cast<std::int64_t>(n) * vectors;
  const auto* from = static_cast<const Vector*>(product.from);
  float sums[kRows][kOutputs] = {};
#pragma unroll 4
  for (int v = lane; v < vectors; v += kWarp) {
    Vector weight[kOutputs];
#pragma unroll
    for (int o = 0; o < kOutputs; ++o)
      weight[o] = weights[static_cast<std::int64_t>(o < outputs ? o : 0) * vectors + v];
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
      const Vector x = from[static_cast<std::int64_t>(m) * vectors + v];
#pragma unroll
      for (int o = 0; o < kOutputs; ++o)
#pragma unroll
        for (int i = 0; i < kSize; ++i)
          sums[m][o] += to_float(x.values[i]) * to_float(weight[o].values[i]);
    }
  }
#pragma unroll
  for (int m = 0; m < kRows; ++m)
#pragma unroll
    for (int o = 0; o < kOutputs; ++o) {
      float sum = sums[m][o];
      for (int mask = kWarp / 2; mask > 0; mask /= 2) sum += from_lane(sum, mask);
      if (lane != 0 || o >= outputs || m >= product.rows) continue;
      float& to = product.to[static_cast<std::int64_t>(m) * product.n + n + o];
      to = product.add ? to + sum : sum;
    }
}

template <class T>
void start_few_rows(cudaStream_t stream, const FewRows& product) {
  const dim3 blocks(
      static_cast<unsigned int>((product.n + kWarps * kOutputs - 1) / (kWarps * kOutputs)));
  const auto start = [&](auto kernel) { launch_kernel(stream, blocks, kThreads, kernel, product); };
  if (product.rows == 1) return start(few_rows_kernel<T, 1>);
  if (product.rows == 2) return start(few_rows_kernel<T, 2>);
  if (product.rows <= 4) return start(few_rows_kernel<T, 4>);
  start(few_rows_kernel<T, kMaxFewRows>);
}

unsigned int blocks_of(int count) {
  return static_cast<unsigned int>((count + kThreads - 1) / kThreads);
}

}  // namespace

void draw(cudaStream_t stream, Precision precision, const Draw& numbers, std::int64_t count,
          void* to) {
  constexpr std::int64_t kMostBlocks = 132 * 8;
  const auto blocks =
      static_cast<unsigned int>(std::min(kMostBlocks, (count + kThreads - 1) / kThreads));
  cudnn::typed(precision, [&]<class T>(T) {
    launch_kernel(stream, blocks, kThreads, draw_kernel<T>, numbers, count, static_cast<T*>(to));
  });
}

void embed(const StepLaunch& launch, const StepView& step, const void* embedding, int width,
           float* x) {
  cudnn::typed(launch.precision, [&]<class T>(T) {
    launch_kernel(launch.stream, static_cast<unsigned int>(launch.rows), kThreads, embed_kernel<T>,
                  step, static_cast<const T*>(embedding), width, x);
  });
}

void normalise(const StepLaunch& launch, const StepView& step, bool last_rows, const float* x,
               const void* gains, int width, void* to) {
  const auto rows = static_cast<unsigned int>(last_rows ? launch.predictions : launch.rows);
  cudnn::typed(launch.precision, [&]<class T>(T) {
    launch_kernel(launch.stream, rows, kThreads, normalise_kernel<T>, step, last_rows, x,
                  static_cast<const T*>(gains), width, static_cast<T*>(to));
  });
}

void gate(const StepLaunch& launch, const StepView& step, const float* gates, int width, void* to) {
  const dim3 blocks(blocks_of(width), static_cast<unsigned int>(launch.rows));
  cudnn::typed(launch.precision, [&]<class T>(T) {
    launch_kernel(launch.stream, blocks, kThreads, gate_kernel<T>, step, gates, width,
                  static_cast<T*>(to));
  });
}

void most_likely(const StepLaunch& launch, const StepView& step, const float* logits,
                 int vocabulary, int* next) {
  launch_kernel(launch.stream, static_cast<unsigned int>(launch.predictions), kSearchers,
                most_likely_kernel, step, logits, vocabulary, next);
}

void multiply_few_rows(cudaStream_t stream, Precision precision, const FewRows& product) {
  cudnn::typed(precision, [&]<class T>(T) { start_few_rows<T>(stream, product); });
}

}  // namespace doetune::workloads::language
