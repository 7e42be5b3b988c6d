// A GPU that consists of the host, for tests: the functions of the CUDA runtime, of the driver and
// of cuDNN that the engine calls, so that its kernels, memory, streams and graphs run where there
// is no GPU. It is stricter than a device:
//
//   - new memory holds NaN in every precision;
//   - work is not run before something waits for it, and then only the work that this needs: what
//     no event orders runs in the least favourable order;
//   - the threads of a block run one after another, each until it ends or waits for the others;
//   - a copy beyond an allocation is an error, and under the address sanitizer so is every access;
//   - a graph's capture fails if the device is synchronised meanwhile (error 900).
//
// Time is simulated: an operation takes a microsecond, a convolution what its engine takes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <set>

namespace doetune::host_gpu {

/// After `count` more creations (of contexts, streams, graphs, handles and memory) there is no
/// memory left on the GPU. A negative count: there is enough.
void run_out_of_memory_after(int count);

/// Called whenever a capture has begun, by the thread that captures.
void when_capture_begins(std::function<void()> call);

/// The seconds that a convolution takes with the engine of this index; by default a microsecond.
void set_engine_seconds(std::int64_t engine, double seconds);

/// The index of the cuDNN engine that is compiled at run time.
inline constexpr std::int64_t kCompiledAtRunTime = 20;

/// Whether the device goes on with its work; otherwise no event is past when it is asked.
void set_working(bool works);

/// Whether NCCL completes what it has begun.
void set_nccl_ready(bool is_ready);

/// Calls since the process began.
struct Calls {
  int algorithm_searches = 0;  ///< of cublasLt
  int timings = 0;             ///< of the time between two events
  int graph_launches = 0;
};
Calls calls();

/// The multiprocessors on which the kernels of a stream run.
std::set<int> multiprocessors_of(cudaStream_t stream);
inline constexpr int kMultiprocessors = 132;

}  // namespace doetune::host_gpu
