// One GPU through the CUDA runtime: memory, streams and events that free themselves, and a part of
// its multiprocessors. Driver functions are fetched when they are needed; nothing links libcuda.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "workloads/engines/engine.h"

namespace doetune::workloads::cudnn {

/// Throws std::runtime_error unless the result is a success.
void check(cudaError_t result, const char* what);

/// GPUs that this process can use; `why_none` gets the reason where there is none: no driver, one
/// that is older than this build's CUDA, or no GPU that is visible.
int visible_gpus(std::string* why_none);

/// Memory of the current device. Throws CannotRun, with the bytes asked for and those free.
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

/// Page-locked memory of the host, zeroed. Throws CannotRun.
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

/// A part of a GPU's multiprocessors (a green context), or all of them.
class Multiprocessors {
 public:
  /// `share` in (0, 1]; below 1 the nearest number that the GPU can set apart. Throws CannotRun
  /// where the driver cannot, std::invalid_argument for another share.
  Multiprocessors(int gpu, double share);
  ~Multiprocessors();
  Multiprocessors(const Multiprocessors&) = delete;
  Multiprocessors& operator=(const Multiprocessors&) = delete;

  /// How many; 0 for all.
  int count() const { return count_; }
  /// A stream whose kernels run on these alone.
  cudaStream_t new_stream() const;

 private:
  void set_apart(int gpu, double share);

  void* green_context_ = nullptr;
  int count_ = 0;
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

/// A point in a stream. One that was never recorded is past.
class Event {
 public:
  enum class Kind { order, timing };
  explicit Event(Kind kind = Kind::order);
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream);
  /// Work put on the stream from now on waits for this point.
  void hold(cudaStream_t stream) const;
  /// The calling thread sleeps until this point is past.
  void wait() const;
  /// Whether it is past, at once. Throws what went wrong on the way there.
  bool past() const;
  /// Between two points that are past; of kind timing.
  double seconds_since(const Event& earlier) const;

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace doetune::workloads::cudnn
