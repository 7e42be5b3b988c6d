// The part of a micro-batch that one task of Spark's analyses: coded frames, as bytes of a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/stream/stream_plan.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {

struct CodedFrame {
  std::int64_t channel = 0;
  std::int64_t source_frame = 0;
  std::span<const std::byte> packet;
};

struct CodedShare {
  std::int64_t micro_batch = 0;
  std::int64_t share = 0;
  std::vector<CodedFrame> frames;
};

/// 64-bit integers in the order of this machine's bytes: micro-batch, share, number of frames; for
/// each frame its channel, its number and its size; then the packets of the clip.
std::vector<std::byte> to_bytes(const Clip& clip, std::int64_t micro_batch, std::int64_t share,
                                std::span<const StreamFrame> frames);

/// Refers to the bytes. Throws std::invalid_argument if they are not a complete share.
CodedShare share_in(std::span<const std::byte> bytes);

}  // namespace doetune::workloads
