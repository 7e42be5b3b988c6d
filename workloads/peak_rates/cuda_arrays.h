// Arrays on a GPU, and the timing of operations on them.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/engines/cudnn/device.h"

namespace doetune::workloads::cuda {

using cudnn::check;
using cudnn::DeviceBuffer;
using cudnn::PinnedBuffer;

inline float* floats_of(const DeviceBuffer& array) { return static_cast<float*>(array.data()); }

/// Times the work submitted to its stream.
class Timeline {
 public:
  cudaStream_t stream() const { return stream_; }

  template <class Run>
  double seconds(int repetitions, Run run) {
    begin_.record(stream_);
    for (int i = 0; i < repetitions; ++i) run();
    end_.record(stream_);
    end_.wait();
    check(cudaGetLastError(), "running an operation");
    return end_.seconds_since(begin_);
  }

 private:
  cudnn::Stream stream_{cudnn::Multiprocessors(0)};
  cudnn::Event begin_{cudnn::Event::Kind::timing};
  cudnn::Event end_{cudnn::Event::Kind::timing};
};

/// Sets element i of an array of `count` numbers to value(i).
void set(const DeviceBuffer& array, std::int64_t count, Precision precision,
         float (*value)(std::int64_t));

/// Downloads an array.
std::vector<float> read(const DeviceBuffer& array, std::int64_t count, Precision precision);

}  // namespace doetune::workloads::cuda
