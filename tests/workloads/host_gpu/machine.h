// What the parts of the host GPU share.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "host_gpu.h"

namespace doetune::host_gpu {

/// One call at a time.
std::recursive_mutex& machine();

/// What calls() returns. Requires the lock.
Calls& counted();

/// Records an error as CUDA's last one, and returns it.
cudaError_t failed(cudaError_t error);

/// Whether there is memory for one more thing.
bool can_create();

/// Appends work to a stream, or to the graph that is captured from it.
cudaError_t submit(cudaStream_t stream, std::function<void()> work);

/// Runs all work of a stream.
void finish(cudaStream_t stream);
/// Runs all work of all streams.
void finish_all();

/// Whether the calling thread captures: calls that a capture forbids fail then, and the capture
/// too.
bool forbidden_here();

cudaStream_t new_stream(std::set<int> multiprocessors);
std::set<int> all_multiprocessors();

/// Lets simulated time pass.
void pass(double seconds);

/// The context current to the calling thread: null for the primary one.
const void* current_context();
/// The context of a stream.
const void* context_of(cudaStream_t stream);
void set_context(cudaStream_t stream, const void* context);

/// The driver's function of that name, or null.
void* driver_function(const char* name);

}  // namespace doetune::host_gpu
