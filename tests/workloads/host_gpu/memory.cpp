// Memory and copies.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "host_gpu.h"
#include "machine.h"

namespace doetune::host_gpu {
namespace {

constexpr std::size_t kMemory = std::size_t{4} << 30;  // of the GPU
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kLeftUnset = std::size_t{64} << 20;  // larger memory is not written at first
constexpr int kNew = 0xFF;                                 // NaN in fp32, bf16 and fp16

enum class Kind { device, page_locked };

struct Allocation {
  std::size_t bytes;
  Kind kind;
};

struct Memory {
  std::map<const char*, Allocation> allocations;  // by address
  std::size_t used = 0;
  int creations_left = -1;
};

Memory& memory() {
  static Memory all;
  return all;
}

thread_local cudaError_t last_error = cudaSuccess;

struct Found {
  bool known = false;
  bool whole = false;  // the range is inside the allocation
  Kind kind = Kind::device;
};

Found find(const void* address, std::size_t bytes) {
  const auto* at = static_cast<const char*>(address);
  auto next = memory().allocations.upper_bound(at);
  if (next == memory().allocations.begin()) return {};
  const auto& [begin, allocation] = *--next;
  if (at >= begin + allocation.bytes) return {};
  return {true, at + bytes <= begin + allocation.bytes, allocation.kind};
}

cudaError_t allocate(void** address, std::size_t bytes, Kind kind) {
  const std::lock_guard lock(machine());
  if (forbidden_here()) return cudaErrorStreamCaptureUnsupported;
  const bool fits = kind == Kind::page_locked || memory().used + bytes <= kMemory;
  if (!fits || !can_create()) return failed(cudaErrorMemoryAllocation);
  if (posix_memalign(address, kAlignment, bytes) != 0) return failed(cudaErrorMemoryAllocation);
  if (bytes < kLeftUnset) std::memset(*address, kNew, bytes);
  memory().allocations[static_cast<char*>(*address)] = {bytes, kind};
  if (kind == Kind::device) memory().used += bytes;
  return cudaSuccess;
}

cudaError_t release(void* address) {
  if (address == nullptr) return cudaSuccess;
  const std::lock_guard lock(machine());
  if (forbidden_here()) return cudaErrorStreamCaptureUnsupported;
  const auto found = memory().allocations.find(static_cast<char*>(address));
  if (found == memory().allocations.end()) return failed(cudaErrorInvalidValue);
  finish_all();
  if (found->second.kind == Kind::device) memory().used -= found->second.bytes;
  memory().allocations.erase(found);
  std::free(address);
  return cudaSuccess;
}

}  // namespace

cudaError_t failed(cudaError_t error) {
  last_error = error;
  return error;
}

bool can_create() {
  const std::lock_guard lock(machine());
  int& left = memory().creations_left;
  const bool can = left != 0;
  if (left > 0) --left;
  return can;
}

void run_out_of_memory_after(int count) {
  const std::lock_guard lock(machine());
  memory().creations_left = count;
}

}  // namespace doetune::host_gpu

using namespace doetune::host_gpu;

cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error; }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    default:
      return "an error of the host GPU";
  }
}

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  return allocate(address, bytes, Kind::device);
}
cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
  return allocate(address, bytes, Kind::page_locked);
}
cudaError_t cudaFree(void* address) {
  // cudaFree(nullptr) creates the context.
  if (address == nullptr && !can_create()) return failed(cudaErrorMemoryAllocation);
  return release(address);
}
cudaError_t cudaFreeHost(void* address) { return release(address); }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(machine());
  *free = memory().creations_left == 0 ? 0 : kMemory - memory().used;
  *total = kMemory;
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  const std::lock_guard lock(machine());
  const Found found = find(address, 1);
  *attributes = {};
  attributes->type = !found.known                 ? cudaMemoryTypeUnregistered
                     : found.kind == Kind::device ? cudaMemoryTypeDevice
                                                  : cudaMemoryTypeHost;
  return cudaSuccess;
}

/// Memory that is not page-locked is read before the call returns, and written before it returns.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const std::lock_guard lock(machine());
  const Found source = find(from, bytes);
  const Found target = find(to, bytes);
  if ((source.known && !source.whole) || (target.known && !target.whole) ||
      (!source.known && !target.known))
    return failed(cudaErrorInvalidValue);
  if ((!source.known || !target.known) && forbidden_here())
    return cudaErrorStreamCaptureUnsupported;
  if (!source.known) {
    const auto* begin = static_cast<const char*>(from);
    return submit(stream, [kept = std::vector<char>(begin, begin + bytes), to] {
      std::memcpy(to, kept.data(), kept.size());
    });
  }
  const cudaError_t submitted = submit(stream, [=] { std::memcpy(to, from, bytes); });
  if (!target.known) finish(stream);
  return submitted;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const std::lock_guard lock(machine());
  if (forbidden_here()) return cudaErrorStreamCaptureUnsupported;
  const cudaError_t submitted = cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  finish(nullptr);
  return submitted;
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const std::lock_guard lock(machine());
  if (!find(to, bytes).whole) return failed(cudaErrorInvalidValue);
  return submit(stream, [=] { std::memset(to, value, bytes); });
}

/// The device clears memory after the call has returned.
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  if (forbidden_here()) return cudaErrorStreamCaptureUnsupported;
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
