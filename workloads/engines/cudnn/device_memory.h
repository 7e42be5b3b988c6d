// How networks allocate GPU memory and copy to and from it.
#pragma once

#include <algorithm>
#include <vector>

#include "workloads/engines/cudnn/device.h"
#include "workloads/shape.h"

namespace doetune::workloads::cudnn {

/// Alignment in bytes of the parts of an allocation; that of cudaMalloc.
inline constexpr std::int64_t kPartAlignment = 256;

inline std::int64_t float_bytes(const Shape& shape, int images) {
  return shape.elements() * images * static_cast<std::int64_t>(sizeof(float));
}

/// A copy between the host and the current device, or on the device.
inline void copy_async(const void* from, void* to, std::int64_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream),
        "a copy");
}

/// Memory of passes that run one after another: they share an arena where it is large enough. An
/// arena used in a captured graph must stay where it is; a pass that needs more gets another one.
class Arenas {
 public:
  /// `purpose` is for messages.
  explicit Arenas(const char* purpose) : purpose_(purpose) {}

  /// Throws CannotRun.
  void* of(std::int64_t bytes) {
    const auto fits = std::ranges::find_if(
        arenas_, [&](const DeviceBuffer& arena) { return arena.bytes() >= bytes; });
    return (fits != arenas_.end() ? *fits : arenas_.emplace_back(bytes, purpose_)).data();
  }
  std::int64_t bytes() const {
    std::int64_t sum = 0;
    for (const DeviceBuffer& arena : arenas_) sum += arena.bytes();
    return sum;
  }

 private:
  const char* purpose_;
  std::vector<DeviceBuffer> arenas_;
};

}  // namespace doetune::workloads::cudnn
