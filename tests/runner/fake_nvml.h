// Sets the machine of the fake NVML for one test.
#pragma once

#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/temporary_directory.h"

namespace doetune::tests {

/// Makes Nvml open the fake library with this machine during the object's lifetime.
class FakeNvml {
 public:
  explicit FakeNvml(const nlohmann::json& machine, const char* library = FAKE_NVML_LIBRARY) {
    std::ofstream(directory_ / "machine.json") << machine;
    ::setenv("FAKE_NVML", (directory_ / "machine.json").c_str(), 1);
    ::setenv("DOETUNE_NVML", library, 1);
  }
  ~FakeNvml() {
    ::unsetenv("FAKE_NVML");
    ::unsetenv("DOETUNE_NVML");
  }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

 private:
  TemporaryDirectory directory_;
};

/// A busy data-centre GPU.
inline nlohmann::json busy_gpu(const char* uuid) {
  return {{"uuid", uuid},
          {"name", "NVIDIA H100 80GB HBM3"},
          {"memory", 80e9},
          {"memory_used", 20e9},
          {"memory_reserved", 5e8},
          {"persistence", 1},
          {"ecc", 1},
          {"compute_mode", 0},
          {"power_limit_mW", 700000},
          {"sm_clock", 1755},
          {"sm_clock_max", 1980},
          {"memory_clock", 2619},
          {"memory_clock_max", 2619},
          {"utilization", 97},
          {"memory_utilization", 41},
          {"power_mW", 402000},
          {"power_now_mW", 450000},
          {"energy_mJ", 1234567},
          {"temperature", 61},
          {"clock_events", 4},
          {"ecc_corrected", 3},
          {"ecc_uncorrected", 0},
          {"pcie_sent", 1e9},
          {"pcie_received", 2e9},
          {"nvlink_sent_KiB", 10},
          {"nvlink_received_KiB", 20},
          {"processes", {4711}}};
}

}  // namespace doetune::tests
