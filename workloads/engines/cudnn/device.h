// One GPU through the CUDA runtime: memory, streams and events that free themselves, and green
// contexts. Driver functions are looked up on demand; nothing links libcuda.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "workloads/engines/engine.h"

namespace doetune::workloads::cudnn {

/// Throws unless the result is a success: CannotRun where GPU memory was lacking, else
/// std::runtime_error.
void check(cudaError_t result, const char* what);

/// The number of GPUs that this process can use; `why_none` gets the reason where there is none: no
/// driver, one older than this build's CUDA, or no visible GPU.
int visible_gpus(std::string* why_none);

/// Memory on the current device. Throws CannotRun, with the bytes requested and those free.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  DeviceBuffer(std::int64_t bytes, const char* purpose);

  void* data() const { return data_.get(); }
  std::byte* at(std::int64_t offset) const { return static_cast<std::byte*>(data()) + offset; }
  std::int64_t bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(void* data) const { cudaFree(data); }
  };
  std::unique_ptr<void, Free> data_;
  std::int64_t bytes_ = 0;
};

/// Page-locked host memory, zeroed. Throws CannotRun.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  explicit PinnedBuffer(std::int64_t bytes);

  void* data() const { return data_.get(); }
  std::int64_t bytes() const { return bytes_; }
  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data()), static_cast<std::size_t>(bytes_) / sizeof(T)};
  }

 private:
  struct Free {
    void operator()(void* data) const { cudaFreeHost(data); }
  };
  std::unique_ptr<void, Free> data_;
  std::int64_t bytes_ = 0;
};

/// One of several equal parts of a GPU's multiprocessors (a green context), or all of them.
class Multiprocessors {
 public:
  /// Parts with the same `gpu` and `parts` have no multiprocessor in common. They have the largest
  /// number that the GPU can reserve for each, so some may be left over. Throws CannotRun where the
  /// driver cannot divide the GPU so, std::invalid_argument unless 0 <= part < parts.
  explicit Multiprocessors(int gpu, int parts = 1, int part = 0);
  ~Multiprocessors();
  Multiprocessors(const Multiprocessors&) = delete;
  Multiprocessors& operator=(const Multiprocessors&) = delete;

  /// Their number; 0 for all.
  int count() const { return count_; }
  /// Makes the GPU, and with a part its context, current for the calling thread. What is made for
  /// these multiprocessors is made so: cuDNN refuses a stream of another context than its handle's.
  void enter() const;
  /// A stream whose kernels run on these multiprocessors only.
  cudaStream_t new_stream() const;

 private:
  void set_apart(int parts, int part);

  int gpu_;
  void* green_context_ = nullptr;
  void* context_ = nullptr;  // the same as a context that can be current
  int count_ = 0;
};

/// Held by a thread that makes a network, chooses plans or captures a graph. Of the threads of a
/// process one does so at a time: CUDA and cuDNN load kernels and wait for the device meanwhile,
/// which would spoil the capture of another thread.
class Preparation {
 public:
  Preparation();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
};

class Stream {
 public:
  explicit Stream(const Multiprocessors& multiprocessors) : stream_(multiprocessors.new_stream()) {}
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }
  void wait() const;

 private:
  cudaStream_t stream_;
};

/// A CUDA event. One that was never recorded counts as completed.
class Event {
 public:
  enum class Kind { order, timing };
  explicit Event(Kind kind = Kind::order);
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream);
  /// Work submitted to the stream from now on waits for the event.
  void hold(cudaStream_t stream) const;
  /// Blocks the calling thread, without spinning, until the event has completed.
  void wait() const;
  /// Whether it has completed; does not wait. Throws the error of the work before it, if any.
  bool past() const;
  /// The time between two completed events of kind timing.
  double seconds_since(const Event& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace doetune::workloads::cudnn
