// Attention by tensor cores: queries of neighbouring rows and of heads that share keys, at once.
#pragma once

#include "workloads/language/cuda/gpu_kernels.h"

namespace doetune::workloads::language {

/// Blocks that a multiprocessor holds at a time, by their registers.
inline constexpr int kTileBlocks = 3;

/// Whether attend_tiles has this attention: queries and weights of the attention in bf16, as
/// weights are then, a cache of fewer bits than fp32, and heads of 64 or 128 elements.
bool has_tiles(Precision precision, CacheType cache, const HeadShape& shape);

/// See attend.
void attend_tiles(const StepLaunch& launch, const StepView& step, const HeadShape& shape,
                  const float* projected, const LayerCache& cache, float* parts, void* attended);

}  // namespace doetune::workloads::language
