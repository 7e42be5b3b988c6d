// The GPUs that runs on this machine may be given.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

struct UsableGpus {
  std::vector<std::string> ids;  ///< as CUDA_VISIBLE_DEVICES names them
  std::string problem;           ///< why there are none, or fewer than the driver counts
};

/// The entries of this process' CUDA_VISIBLE_DEVICES; empty optional where it is not set.
std::optional<std::vector<std::string>> visible_devices();

/// What this process' own CUDA_VISIBLE_DEVICES leaves of the machine's GPUs, by UUID: an index
/// means another device to CUDA (the fastest first) than to NVML. Of a GPU in MIG mode, its
/// instances. Where NVML cannot be opened, the entries of CUDA_VISIBLE_DEVICES as they are.
UsableGpus usable_gpus();

}  // namespace doetune::runner
