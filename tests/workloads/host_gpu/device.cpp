// The device, and its division into green contexts by the driver's functions.
#include <cuda.h>
#include <cuda_profiler_api.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <string_view>
#include <vector>

#include "host_gpu.h"
#include "machine.h"

/// The driver's description of resources, and a context of them.
struct CUdevResourceDesc_st {
  std::set<int> multiprocessors;
};
struct CUgreenCtx_st {
  std::set<int> multiprocessors;
};

namespace doetune::host_gpu {
namespace {

constexpr unsigned int kSplitMultiple = 8;  // of a GPU of compute capability 9.0

thread_local CUcontext current = nullptr;

/// A resource carries its first multiprocessor in a field that the driver keeps for itself.
unsigned int& first_of(CUdevResource& resource) {
  return *reinterpret_cast<unsigned int*>(resource._internal_padding);
}

CUdevResource resource_of(unsigned int first, unsigned int count) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  resource.sm.smCount = count;
  resource.sm.minSmPartitionSize = kSplitMultiple;
  resource.sm.smCoscheduledAlignment = kSplitMultiple;
  first_of(resource) = first;
  return resource;
}

CUresult device_resource(CUdevice, CUdevResource* resource, CUdevResourceType) {
  *resource = resource_of(0, kMultiprocessors);
  return CUDA_SUCCESS;
}

/// As cuda.h describes it: groups of at least `least` multiprocessors, rounded up to a multiple.
CUresult split(CUdevResource* groups, unsigned int* count, const CUdevResource* whole,
               CUdevResource* remaining, unsigned int, unsigned int least) {
  const unsigned int each =
      std::max(1U, (least + kSplitMultiple - 1) / kSplitMultiple) * kSplitMultiple;
  const unsigned int most = whole->sm.smCount / each;
  if (most == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
  CUdevResource all = *whole;
  if (groups == nullptr) {
    *count = most;
    return CUDA_SUCCESS;
  }
  *count = std::min(*count, most);
  for (unsigned int i = 0; i < *count; ++i) groups[i] = resource_of(first_of(all) + i * each, each);
  if (remaining != nullptr)
    *remaining = resource_of(first_of(all) + *count * each, all.sm.smCount - *count * each);
  return CUDA_SUCCESS;
}

CUresult describe(CUdevResourceDesc* description, CUdevResource* resources, unsigned int count) {
  auto* made = new CUdevResourceDesc_st;
  for (unsigned int i = 0; i < count; ++i)
    for (unsigned int at = 0; at < resources[i].sm.smCount; ++at)
      made->multiprocessors.insert(static_cast<int>(first_of(resources[i]) + at));
  *description = made;
  return CUDA_SUCCESS;
}

CUresult create_context(CUgreenCtx* context, CUdevResourceDesc description, CUdevice,
                        unsigned int) {
  const std::unique_ptr<CUdevResourceDesc_st> used_up(description);  // nothing else deletes it
  if (!can_create()) return CUDA_ERROR_OUT_OF_MEMORY;
  *context = new CUgreenCtx_st{used_up->multiprocessors};
  return CUDA_SUCCESS;
}

CUresult destroy_context(CUgreenCtx context) {
  delete context;
  return CUDA_SUCCESS;
}

CUresult create_stream(CUstream* stream, CUgreenCtx context, unsigned int, int) {
  if (!can_create()) return CUDA_ERROR_OUT_OF_MEMORY;
  *stream = new_stream(context->multiprocessors);
  set_context(*stream, context);
  return CUDA_SUCCESS;
}

CUresult context_from(CUcontext* context, CUgreenCtx green) {
  *context = reinterpret_cast<CUcontext>(green);
  return CUDA_SUCCESS;
}

CUresult set_current(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}

struct DriverFunction {
  std::string_view name;
  void* function;
};

}  // namespace

const void* current_context() { return current; }

std::set<int> all_multiprocessors() {
  std::set<int> all;
  for (int at = 0; at < kMultiprocessors; ++at) all.insert(at);
  return all;
}

void* driver_function(const char* name) {
  const DriverFunction functions[] = {
      {"cuDeviceGetDevResource", reinterpret_cast<void*>(device_resource)},
      {"cuDevSmResourceSplitByCount", reinterpret_cast<void*>(split)},
      {"cuDevResourceGenerateDesc", reinterpret_cast<void*>(describe)},
      {"cuGreenCtxCreate", reinterpret_cast<void*>(create_context)},
      {"cuGreenCtxDestroy", reinterpret_cast<void*>(destroy_context)},
      {"cuGreenCtxStreamCreate", reinterpret_cast<void*>(create_stream)},
      {"cuCtxFromGreenCtx", reinterpret_cast<void*>(context_from)},
      {"cuCtxSetCurrent", reinterpret_cast<void*>(set_current)}};
  for (const DriverFunction& each : functions)
    if (each.name == name) return each.function;
  return nullptr;
}

}  // namespace doetune::host_gpu

using namespace doetune::host_gpu;

cudaError_t cudaProfilerStart() { return cudaSuccess; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "host GPU");
  properties->major = 9;
  properties->multiProcessorCount = kMultiprocessors;
  properties->l2CacheSize = 50 << 20;
  return cudaSuccess;
}

/// Makes the primary context current.
cudaError_t cudaGetDevice(int* gpu) {
  *gpu = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  current = nullptr;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = driver_function(name);
  *result = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
