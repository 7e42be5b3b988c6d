// Determines which GPUs of this machine may be assigned to runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

struct UsableGpus {
  std::vector<std::string> ids;  ///< in CUDA_VISIBLE_DEVICES notation
  std::string problem;           ///< why there are none, or fewer than the driver reports
};

/// The entries of this process' CUDA_VISIBLE_DEVICES; empty optional if it is not set.
std::optional<std::vector<std::string>> visible_devices();

/// The machine's GPUs permitted by this process' own CUDA_VISIBLE_DEVICES, as UUIDs, because CUDA
/// numbers devices differently (fastest first) from NVML. For a GPU in MIG mode, its instances. If
/// NVML cannot be opened, the unchanged entries of CUDA_VISIBLE_DEVICES.
UsableGpus usable_gpus();

}  // namespace doetune::runner
