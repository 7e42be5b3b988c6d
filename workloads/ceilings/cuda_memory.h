// Memory, time and arrays of a GPU, for the operations on it.
#pragma once

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "workloads/engines/engine.h"

namespace doetune::workloads::cuda {

/// Throws std::runtime_error with CUDA's words.
inline void check(cudaError_t status) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

/// Owns memory of the GPU, or pinned memory of the host.
class Memory {
 public:
  enum class Place { device, pinned };

  explicit Memory(std::size_t bytes, Place place = Place::device) : place_(place) {
    const cudaError_t status =
        place == Place::device ? cudaMalloc(&data_, bytes) : cudaMallocHost(&data_, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // the next call shall not report it again
      std::size_t free = 0;
      std::size_t total = 0;
      check(cudaMemGetInfo(&free, &total));
      throw CannotRun(fmt::format("not enough memory: {} bytes asked {}, {} of {} free on the GPU",
                                  bytes, place == Place::device ? "on the GPU" : "in pinned memory",
                                  free, total));
    }
    check(status);
  }
  ~Memory() { place_ == Place::device ? cudaFree(data_) : cudaFreeHost(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Place place_;
  void* data_ = nullptr;
};

/// Owns a stream and two events, and times what is put on the stream between them.
class Timeline {
 public:
  Timeline() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  ~Timeline() {
    cudaEventDestroy(end_);
    cudaEventDestroy(begin_);
    cudaStreamDestroy(stream_);
  }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  cudaStream_t stream() const { return stream_; }

  template <class Run>
  double seconds(int repetitions, Run run) {
    check(cudaEventRecord(begin_, stream_));
    for (int i = 0; i < repetitions; ++i) run();
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    check(cudaGetLastError());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

/// Sets a device's array of `count` numbers.
void set(const Memory& array, std::int64_t count, Precision precision,
         float (*value)(std::int64_t));

/// The numbers of a device's array.
std::vector<float> read(const Memory& array, std::int64_t count, Precision precision);

}  // namespace doetune::workloads::cuda
