#include "workloads/engines/cudnn/parameter_kernels.h"

#include "workloads/engines/cudnn/kernel_tools.cuh"

namespace doetune::workloads::cudnn {
namespace {

/// Calls work(tensor, element) for each element of this block's chunk.
template <class Work>
__device__ void for_chunk(const ParameterChunks& chunks, Work work) {
  const Chunk chunk = chunks.chunks[blockIdx.x];
  const TrainedTensor tensor = chunks.tensors[chunk.tensor];
  const std::int64_t end =
      chunk.first + kChunkElements < tensor.count ? chunk.first + kChunkElements : tensor.count;
  for (std::int64_t i = chunk.first + threadIdx.x; i < end; i += kThreads) work(tensor, i);
}

template <class T>
__global__ void pack_kernel(ParameterChunks chunks, const float* parameters, T* packed) {
  for_chunk(chunks, [&](const TrainedTensor& tensor, std::int64_t i) {
    if (tensor.packed >= 0)
      packed[packed_index(tensor, i)] = from_float<T>(parameters[tensor.offset + i]);
  });
}

template <class T>
__global__ void unpack_weights_kernel(ParameterChunks chunks, const T* packed, float* gradients) {
  for_chunk(chunks, [&](const TrainedTensor& tensor, std::int64_t i) {
    if (tensor.weights) gradients[tensor.offset + i] = to_float(packed[packed_index(tensor, i)]);
  });
}

template <class T>
__global__ void sgd_kernel(ParameterChunks chunks, Sgd sgd, const float* gradients, float* momentum,
                           float* parameters, T* packed) {
  for_chunk(chunks, [&](const TrainedTensor& tensor, std::int64_t i) {
    const std::int64_t at = tensor.offset + i;
    float v = momentum[at];
    float w = parameters[at];
    sgd_step(sgd, tensor.weights, gradients[at], v, w);
    momentum[at] = v;
    parameters[at] = w;
    if (tensor.packed >= 0) packed[packed_index(tensor, i)] = from_float<T>(w);
  });
}

__global__ void transfer_kernel(ParameterChunks chunks, Transfer direction, float* gpu,
                                float* host) {
  for_chunk(chunks, [&](const TrainedTensor& tensor, std::int64_t i) {
    float& there = host[tensor.offset + i];
    float& here = gpu[tensor.offset + channels_last_index(tensor, i)];
    if (direction == Transfer::to_host)
      there = here;
    else
      here = there;
  });
}

template <class Kernel, class... Arguments>
void start_chunks(const Launch& launch, const ParameterChunks& chunks, Kernel kernel,
                  Arguments... arguments) {
  if (chunks.count == 0) return;
  cuda::launch_kernel(launch.stream, static_cast<unsigned int>(chunks.count), kThreads, kernel,
                      chunks, arguments...);
}

}  // namespace

void pack(const Launch& launch, const ParameterChunks& chunks, const float* parameters,
          void* packed) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start_chunks(launch, chunks, pack_kernel<T>, parameters, static_cast<T*>(packed));
  });
}

void unpack_weights(const Launch& launch, const ParameterChunks& chunks, const void* packed,
                    float* gradients) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start_chunks(launch, chunks, unpack_weights_kernel<T>, static_cast<const T*>(packed),
                 gradients);
  });
}

void sgd_step(const Launch& launch, const ParameterChunks& chunks, const Sgd& sgd,
              const float* gradients, float* momentum, float* parameters, void* packed) {
  typed(launch.precision, [&](auto zero) {
    using T = decltype(zero);
    start_chunks(launch, chunks, sgd_kernel<T>, sgd, gradients, momentum, parameters,
                 static_cast<T*>(packed));
  });
}

void transfer(const Launch& launch, const ParameterChunks& chunks, Transfer direction, float* gpu,
              float* host) {
  start_chunks(launch, chunks, transfer_kernel, direction, gpu, host);
}

}  // namespace doetune::workloads::cudnn
