// Our own kernels on what a network learns: its packed copy, a step of descent, ways to the host.
#pragma once

#include "workloads/engines/cudnn/kernels.h"
#include "workloads/engines/cudnn/training_arithmetic.h"

namespace doetune::workloads::cudnn {

/// A part of a tensor that one block of threads works on.
struct Chunk {
  int tensor;
  std::int64_t first;
};
inline constexpr std::int64_t kChunkElements = 8192;

/// Some chunks of all tensors, in device memory.
struct ParameterChunks {
  const TrainedTensor* tensors;
  const Chunk* chunks;
  std::int64_t count;
};

/// Rounds parameters into the packed copy.
void pack(const Launch& launch, const ParameterChunks& chunks, const float* parameters,
          void* packed);
/// Packed gradients by weights into the block; other tensors stay as they are.
void unpack_weights(const Launch& launch, const ParameterChunks& chunks, const void* packed,
                    float* gradients);
/// One step of descent, and what it makes of the parameters into the packed copy.
void sgd_step(const Launch& launch, const ParameterChunks& chunks, const Sgd& sgd,
              const float* gradients, float* momentum, float* parameters, void* packed);
/// Between a block on the GPU and one in the layout of parameters.h, in memory of the host that is
/// locked.
enum class Transfer { to_host, to_gpu };
void transfer(const Launch& launch, const ParameterChunks& chunks, Transfer direction, float* gpu,
              float* host);

}  // namespace doetune::workloads::cudnn
