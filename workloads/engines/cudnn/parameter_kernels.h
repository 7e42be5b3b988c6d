// Our own kernels on parameters: packing, SGD update, copies to and from the host.
#pragma once

#include "workloads/engines/cudnn/kernels.h"
#include "workloads/engines/cudnn/training_arithmetic.h"

namespace doetune::workloads::cudnn {

/// The part of a tensor that one thread block works on.
struct Chunk {
  int tensor;
  std::int64_t first;
};
inline constexpr std::int64_t kChunkElements = 8192;

/// Chunks of all tensors, in device memory.
struct ParameterChunks {
  const TrainedTensor* tensors;
  const Chunk* chunks;
  std::int64_t count;
};

/// Rounds the parameters into the packed copy.
void pack(const Launch& launch, const ParameterChunks& chunks, const float* parameters,
          void* packed);
/// Packed gradients with respect to weights into the block; other tensors are left unchanged.
void unpack_weights(const Launch& launch, const ParameterChunks& chunks, const void* packed,
                    float* gradients);
/// One SGD update, with the new parameters also written to the packed copy.
void sgd_step(const Launch& launch, const ParameterChunks& chunks, const Sgd& sgd,
              const float* gradients, float* momentum, float* parameters, void* packed);
/// Between a block on the GPU and one in the layout of parameters.h, in page-locked host memory.
enum class Transfer { to_host, to_gpu };
void transfer(const Launch& launch, const ParameterChunks& chunks, Transfer direction, float* gpu,
              float* host);

}  // namespace doetune::workloads::cudnn
