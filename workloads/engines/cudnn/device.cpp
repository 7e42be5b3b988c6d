#include "workloads/engines/cudnn/device.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace doetune::workloads::cudnn {
namespace {

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

bool driver_library_is_there() {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) dlclose(library);
  return library != nullptr;
}

std::string reason_for_none(cudaError_t result) {
  if (!driver_library_is_there())
    return "there is no usable GPU: no NVIDIA driver is installed (libcuda.so.1 was not found)";
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (result == cudaErrorInsufficientDriver && driver > 0)
    return fmt::format("the installed NVIDIA driver supports CUDA {}, but this build needs CUDA {}",
                       version(driver), version(CUDART_VERSION));
  if (result == cudaSuccess || result == cudaErrorNoDevice) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible == nullptr
               ? "there is an NVIDIA driver, but no GPU"
               : fmt::format("no GPU is visible (CUDA_VISIBLE_DEVICES is '{}')", visible);
  }
  return fmt::format("CUDA: {}", cudaGetErrorString(result));
}

double gibibytes(std::size_t bytes) { return static_cast<double>(bytes) / 0x1p30; }

/// "of 79.10 GiB 1048576 bytes (0.00 GiB) are free"; nothing where there is no context.
std::string memory_left() {
  std::size_t free = 0;
  std::size_t total = 0;
  const cudaError_t asked = cudaMemGetInfo(&free, &total);
  cudaGetLastError();  // clears the errors, else the next kernel reports them
  if (asked != cudaSuccess) return "";
  return fmt::format(", of {:.2f} GiB {} bytes ({:.2f} GiB) are free", gibibytes(total), free,
                     gibibytes(free));
}

CannotRun out_of_memory(std::int64_t bytes, const std::string& purpose) {
  return CannotRun(fmt::format("not enough GPU memory: {} needs {} bytes ({:.2f} GiB){}", purpose,
                               bytes, gibibytes(static_cast<std::size_t>(bytes)), memory_left()));
}

CannotRun out_of_memory(const std::string& what) {
  return CannotRun(fmt::format("not enough GPU memory: {} failed{}", what, memory_left()));
}

template <class Function>
Function driver_function(const char* name, unsigned int since) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion(name, &found, since, cudaEnableDefault, &result) !=
          cudaSuccess ||
      result != cudaDriverEntryPointSuccess) {
    cudaGetLastError();
    throw CannotRun(fmt::format(
        "a part of the multiprocessors: the installed NVIDIA driver has no {} (CUDA {})", name,
        version(static_cast<int>(since))));
  }
  return reinterpret_cast<Function>(found);
}

void check_driver(CUresult result, const char* what) {
  if (result == CUDA_ERROR_OUT_OF_MEMORY) throw out_of_memory(what);
  if (result != CUDA_SUCCESS)
    throw CannotRun(fmt::format("a part of the multiprocessors: {} failed with driver error {}",
                                what, static_cast<int>(result)));
}

}  // namespace

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  if (result == cudaErrorMemoryAllocation) throw out_of_memory(what);
  cudaGetLastError();
  throw std::runtime_error(fmt::format("CUDA: {}: {}", what, cudaGetErrorString(result)));
}

int visible_gpus(std::string* why_none) {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess && count > 0) return count;
  cudaGetLastError();
  *why_none = reason_for_none(result);
  return 0;
}

DeviceBuffer::DeviceBuffer(std::int64_t bytes, const char* purpose) : bytes_(bytes) {
  void* data = nullptr;
  const cudaError_t result =
      cudaMalloc(&data, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
  if (result == cudaErrorMemoryAllocation) throw out_of_memory(bytes, purpose);
  check(result, "allocating GPU memory");
  data_.reset(data);
}

PinnedBuffer::PinnedBuffer(std::int64_t bytes) : bytes_(bytes) {
  void* data = nullptr;
  const cudaError_t result =
      cudaMallocHost(&data, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
  if (result == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw CannotRun(fmt::format("not enough host memory to lock {} bytes for copies", bytes));
  }
  check(result, "locking host memory");
  data_.reset(data);
  std::ranges::fill(as<std::byte>(), std::byte{});
}

// -- multiprocessors ------------------------------------------------------------------------------

namespace {

using Groups = std::vector<CUdevResource>;

/// Groups of as many multiprocessors as possible: the driver rounds the number wanted up, on an
/// H100 to a multiple of eight, and then makes fewer groups.
Groups divided(int gpu, unsigned int parts) {
  const auto resource_of =
      driver_function<PFN_cuDeviceGetDevResource_v12040>("cuDeviceGetDevResource", 12040);
  const auto split =
      driver_function<PFN_cuDevSmResourceSplitByCount_v12040>("cuDevSmResourceSplitByCount", 12040);
  CUdevResource all{};
  check_driver(resource_of(gpu, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource");
  for (unsigned int each = all.sm.smCount / parts; each > 0; --each) {
    unsigned int possible = 0;
    const CUresult asked = split(nullptr, &possible, &all, nullptr, 0, each);
    if (asked != CUDA_SUCCESS || possible < parts) continue;
    Groups groups(parts);
    check_driver(split(groups.data(), &parts, &all, nullptr, 0, each),
                 "cuDevSmResourceSplitByCount");
    return groups;
  }
  throw CannotRun(
      fmt::format("{} multiprocessors cannot be divided into {} parts", all.sm.smCount, parts));
}

/// The groups of a GPU, divided once in a process.
const Groups& groups_of(int gpu, int parts) {
  static std::mutex mutex;
  static std::map<std::pair<int, int>, Groups> known;
  const std::lock_guard lock(mutex);
  Groups& groups = known[{gpu, parts}];
  if (groups.empty()) groups = divided(gpu, static_cast<unsigned int>(parts));
  return groups;
}

}  // namespace

Multiprocessors::Multiprocessors(int gpu, int parts, int part) : gpu_(gpu) {
  if (part < 0 || part >= parts)
    throw std::invalid_argument(
        fmt::format("there is no part {} of {} parts of the multiprocessors", part, parts));
  if (parts > 1) set_apart(parts, part);
}

void Multiprocessors::set_apart(int parts, int part) {
  const auto describe =
      driver_function<PFN_cuDevResourceGenerateDesc_v12040>("cuDevResourceGenerateDesc", 12040);
  const auto create = driver_function<PFN_cuGreenCtxCreate_v12040>("cuGreenCtxCreate", 12040);
  const auto as_context = driver_function<PFN_cuCtxFromGreenCtx_v12040>("cuCtxFromGreenCtx", 12040);
  CUdevResource group = groups_of(gpu_, parts)[static_cast<std::size_t>(part)];
  CUdevResourceDesc description = nullptr;
  check_driver(describe(&description, &group, 1), "cuDevResourceGenerateDesc");
  CUgreenCtx green = nullptr;
  check_driver(create(&green, description, gpu_, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
  green_context_ = green;
  count_ = static_cast<int>(group.sm.smCount);
  CUcontext context = nullptr;
  check_driver(as_context(&context, green), "cuCtxFromGreenCtx");
  context_ = context;
}

void Multiprocessors::enter() const {
  if (context_ == nullptr) return check(cudaSetDevice(gpu_), "choosing the GPU");
  static const auto set_current =
      driver_function<PFN_cuCtxSetCurrent_v4000>("cuCtxSetCurrent", 4000);
  check_driver(set_current(static_cast<CUcontext>(context_)), "cuCtxSetCurrent");
}

Multiprocessors::~Multiprocessors() {
  if (green_context_ == nullptr) return;
  try {
    driver_function<PFN_cuGreenCtxDestroy_v12040>("cuGreenCtxDestroy",
                                                  12040)(static_cast<CUgreenCtx>(green_context_));
  } catch (const CannotRun&) {  // freed at process exit
  }
}

cudaStream_t Multiprocessors::new_stream() const {
  if (green_context_ == nullptr) {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    return stream;
  }
  const auto create =
      driver_function<PFN_cuGreenCtxStreamCreate_v12050>("cuGreenCtxStreamCreate", 12050);
  CUstream stream = nullptr;
  check_driver(create(&stream, static_cast<CUgreenCtx>(green_context_), CU_STREAM_NON_BLOCKING, 0),
               "cuGreenCtxStreamCreate");
  return stream;
}

// -- threads of a process -------------------------------------------------------------------------

Preparation::Preparation() {
  static std::recursive_mutex one_at_a_time;
  lock_ = std::unique_lock(one_at_a_time);
}

// -- streams and events ---------------------------------------------------------------------------

void Stream::wait() const { check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }

Event::Event(Kind kind) {
  const unsigned int flags =
      kind == Kind::timing ? cudaEventDefault : cudaEventDisableTiming | cudaEventBlockingSync;
  check(cudaEventCreateWithFlags(&event_, flags), "making an event");
}

void Event::record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "an event"); }

void Event::hold(cudaStream_t stream) const {
  check(cudaStreamWaitEvent(stream, event_, cudaEventWaitDefault), "an event");
}

void Event::wait() const { check(cudaEventSynchronize(event_), "waiting for the GPU"); }

bool Event::past() const {
  const cudaError_t state = cudaEventQuery(event_);
  if (state == cudaErrorNotReady) return false;
  check(state, "waiting for the GPU");
  return true;
}

double Event::seconds_since(const Event& earlier) const {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "reading a time");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace doetune::workloads::cudnn
