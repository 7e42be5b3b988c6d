// The GPUs of this machine, through the NVIDIA Management Library (NVML).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

/// An instance of a GPU in MIG mode (Multi-Instance GPU), seen as a device by programs.
struct MigInstance {
  std::string uuid;  ///< "MIG-...", as in CUDA_VISIBLE_DEVICES
  std::string name;
  std::optional<std::uint64_t> memory_bytes;
};

struct Gpu {
  int index = 0;     ///< NVML index: in PCI bus order
  std::string uuid;  ///< "GPU-...", as in CUDA_VISIBLE_DEVICES
  std::string name;
  std::optional<std::uint64_t> memory_bytes;
  std::optional<bool> persistence;          ///< the driver stays loaded between programs
  std::optional<bool> ecc;                  ///< error-correcting memory is on
  std::optional<std::string> compute_mode;  ///< default, prohibited, exclusive_process
  std::optional<double> power_limit_w;      ///< as enforced
  std::optional<int> sm_clock_mhz;          ///< current
  std::optional<int> sm_clock_max_mhz;
  std::optional<int> memory_clock_mhz;  ///< current
  std::optional<int> memory_clock_max_mhz;
  std::vector<int> processes;  ///< visible processes that compute on it
  bool mig = false;            ///< in MIG mode: programs use its instances, never the GPU itself
  std::vector<MigInstance> instances;
};

/// Reasons for reduced clocks ("clock event reasons", nvmlClocksEventReason* of nvml.h), as bits.
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

/// Current readings of a device. Unsupported ones are empty; a MIG instance has only memory
/// readings, since the others exist for whole GPUs only.
struct GpuReading {
  std::optional<double> utilization;         ///< fraction of time in which a kernel ran
  std::optional<double> memory_utilization;  ///< fraction of time in which memory was accessed
  std::optional<double> memory_used_bytes;   ///< without memory reserved by the driver, if known
  std::optional<double> power_w;             ///< instantaneous if supported, else a 1 s average
  std::optional<double> energy_j;            ///< since the driver was loaded
  std::optional<double> sm_clock_mhz;
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> clock_events;  ///< bits of clock_event, as a number
};

/// Values that change slowly or take long to read (the PCIe counters take 0.2 to 0.5 ms).
struct GpuCounters {
  std::optional<double> ecc_corrected;  ///< errors since the driver was loaded
  std::optional<double> ecc_uncorrected;
  std::optional<double> pcie_sent_bytes;  ///< wraps around
  std::optional<double> pcie_received_bytes;
  std::optional<double> nvlink_sent_bytes;  ///< sum over all links
  std::optional<double> nvlink_received_bytes;
};

/// The library, opened at run time: libnvidia-ml.so.1, or the file named by DOETUNE_NVML. Without
/// it there are no GPUs, and `problem` gives the reason. A function that an older driver lacks is
/// an unsupported reading. No call changes a device. Any call may block if the driver hangs.
class Nvml {
 public:
  class Device;

  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why there are no GPUs, or fewer than the driver reports; otherwise empty.
  const std::string& problem() const;

  std::optional<std::string> driver_version() const;
  std::optional<std::string> cuda_version() const;  ///< the highest version that the driver
                                                    ///< supports: "12.4"

  std::vector<Gpu> list_gpus() const;

  /// The device with an index, or with an unambiguous prefix of a UUID (of a GPU or a MIG instance,
  /// as in CUDA_VISIBLE_DEVICES); null if there is none. Valid as long as this object.
  const Device* find(const std::string& id) const;

  GpuReading read(const Device& device) const;
  GpuCounters read_counters(const Device& device) const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

}  // namespace doetune::runner
