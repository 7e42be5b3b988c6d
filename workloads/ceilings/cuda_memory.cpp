#include "workloads/ceilings/cuda_memory.h"

#include "workloads/ceilings/cuda_kernels.h"

namespace doetune::workloads::cuda {
namespace {

std::vector<float> values(std::int64_t count, float (*value)(std::int64_t)) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) all[static_cast<std::size_t>(i)] = value(i);
  return all;
}

}  // namespace

void set(const Memory& array, std::int64_t count, Precision precision,
         float (*value)(std::int64_t)) {
  const std::vector<float> host = values(count, value);
  const Memory floats(host.size() * sizeof(float));
  check(
      cudaMemcpy(floats.data(), host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  from_floats(floats.as<float>(), array.data(), precision, count);
  check(cudaDeviceSynchronize());
}

std::vector<float> read(const Memory& array, std::int64_t count, Precision precision) {
  std::vector<float> host(static_cast<std::size_t>(count));
  const Memory floats(host.size() * sizeof(float));
  to_floats(array.data(), floats.as<float>(), precision, count);
  check(
      cudaMemcpy(host.data(), floats.data(), host.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return host;
}

}  // namespace doetune::workloads::cuda
