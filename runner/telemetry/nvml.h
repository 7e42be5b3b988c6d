// The GPUs of this machine, by the NVIDIA Management Library (NVML).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

/// A part of a GPU in MIG mode (Multi-Instance GPU): what a program sees as its device.
struct MigInstance {
  std::string uuid;  ///< "MIG-...", as CUDA_VISIBLE_DEVICES names it
  std::string name;
  std::optional<std::uint64_t> memory_bytes;
};

struct Gpu {
  int index = 0;     ///< NVML's: in the order of PCI bus numbers
  std::string uuid;  ///< "GPU-...", as CUDA_VISIBLE_DEVICES names it
  std::string name;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<bool> persistence;          ///< the driver stays loaded between programs
  std::optional<bool> ecc;                  ///< error-correcting memory is on
  std::optional<std::string> compute_mode;  ///< default, prohibited, exclusive_process
  std::optional<double> power_limit_w;      ///< enforced
  std::optional<int> sm_clock_mhz;          ///< now
  std::optional<int> sm_clock_max_mhz;
  std::optional<int> memory_clock_mhz;  ///< now
  std::optional<int> memory_clock_max_mhz;
  std::vector<int> processes;  ///< ids of the processes that compute on it, as far as visible
  bool mig = false;            ///< in MIG mode: programs use its instances, never itself
  std::vector<MigInstance> instances;
};

/// Reasons for clocks below the highest ("clock event reasons", nvmlClocksEventReason* of
/// nvml.h), as bits.
namespace clock_event {
inline constexpr std::uint64_t kIdle = 0x1;
inline constexpr std::uint64_t kApplicationClocks = 0x2;
inline constexpr std::uint64_t kPowerCap = 0x4;
inline constexpr std::uint64_t kHardwareSlowdown = 0x8;
inline constexpr std::uint64_t kSyncBoost = 0x10;
inline constexpr std::uint64_t kThermal = 0x20;
inline constexpr std::uint64_t kHardwareThermal = 0x40;
inline constexpr std::uint64_t kPowerBrake = 0x80;
}  // namespace clock_event

/// What a device says of itself now. What it does not support is empty; of a MIG instance, all but
/// its memory is: the rest is measured of whole GPUs only.
struct GpuReading {
  std::optional<double> utilization;         ///< share of time in which a kernel ran, 0 to 1
  std::optional<double> memory_utilization;  ///< share of time in which memory was accessed, 0 to 1
  std::optional<double> memory_used_bytes;   ///< without what the driver reserves, where it tells
  std::optional<double> power_w;             ///< now, where the driver tells; else over a second
  std::optional<double> energy_j;            ///< since the driver was loaded
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> clock_events;  ///< bits of clock_event, as a number
};

/// What changes slowly or takes long to ask for (the PCIe counters take 0.2 to 0.5 ms).
struct GpuCounters {
  std::optional<double> ecc_corrected;  ///< errors since the driver was loaded
  std::optional<double> ecc_uncorrected;
  std::optional<double> pcie_sent_bytes;  ///< wraps around
  std::optional<double> pcie_received_bytes;
  std::optional<double> nvlink_sent_bytes;  ///< over all links
  std::optional<double> nvlink_received_bytes;
};

/// The library, opened at run time: libnvidia-ml.so.1, or the file that DOETUNE_NVML names. Without
/// it there are no GPUs, and `problem` says why. A function that an older driver lacks is a reading
/// that is not supported. No call changes a device. Any call may block where a driver hangs.
class Nvml {
 public:
  class Device;

  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why there are no GPUs, or fewer than the driver counts; empty where all is well.
  const std::string& problem() const;

  std::optional<std::string> driver_version() const;
  std::optional<std::string> cuda_version()
      const;  ///< the highest that the driver supports: "12.4"

  std::vector<Gpu> list_gpus() const;

  /// The device of an index, or of the beginning of a UUID that fits no other (a GPU's or a MIG
  /// instance's, as CUDA_VISIBLE_DEVICES has it); null where there is none. Lives as long as this.
  const Device* find(const std::string& id) const;

  GpuReading read(const Device& device) const;
  GpuCounters read_counters(const Device& device) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace doetune::runner
