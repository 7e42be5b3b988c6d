#include "workloads/peak_rates/cuda_arrays.h"

#include "workloads/peak_rates/cuda_kernels.h"

namespace doetune::workloads::cuda {
namespace {

std::int64_t bytes_of(const std::vector<float>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(float));
}

void copy(const void* from, void* to, std::int64_t bytes) {
  check(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault),
        "copying an array");
}

}  // namespace

void set(const DeviceBuffer& array, std::int64_t count, Precision precision,
         float (*value)(std::int64_t)) {
  std::vector<float> host(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) host[static_cast<std::size_t>(i)] = value(i);
  const DeviceBuffer floats(bytes_of(host), "an array of an operation");
  copy(host.data(), floats.data(), floats.bytes());
  from_floats(floats_of(floats), array.data(), precision, count);
  check(cudaStreamSynchronize(nullptr), "setting an array");
}

std::vector<float> read(const DeviceBuffer& array, std::int64_t count, Precision precision) {
  std::vector<float> host(static_cast<std::size_t>(count));
  const DeviceBuffer floats(bytes_of(host), "an array of an operation");
  to_floats(array.data(), floats_of(floats), precision, count);
  copy(floats.data(), host.data(), floats.bytes());
  return host;
}

}  // namespace doetune::workloads::cuda
