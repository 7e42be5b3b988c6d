#include "study/telemetry_quantities.h"

#include <algorithm>
#include <array>

namespace doetune::study {
namespace {

// Unless stated otherwise, the mean over the measured window.
constexpr std::array kQuantities{
    Quantity{"power", "W", "sum of the power of the run's GPUs"},
    Quantity{"energy", "J", "energy used by the run's GPUs in the window"},
    Quantity{"images_per_joule", "1/J", "throughput / power, for runs with a throughput"},
    Quantity{"gpu_utilization", "%", "percentage of time a kernel was running, mean of the GPUs"},
    Quantity{"gpu_memory_utilization", "%",
             "percentage of time GPU memory was read or written, mean of the GPUs"},
    Quantity{"gpu_memory_peak", "GiB", "peak memory used on any one GPU, by all programs"},
    Quantity{"sm_clock", "MHz", "clock of the streaming multiprocessors, mean of the GPUs"},
    Quantity{"memory_clock", "MHz", "clock of the GPU memory, mean of the GPUs"},
    Quantity{"temperature_max", "C", "highest temperature of a GPU"},
    Quantity{"throttled_share", "1", "fraction of time a GPU was throttled for any reason"},
    Quantity{"power_limited_share", "1", "fraction of time it was throttled by the power limit"},
    Quantity{"thermal_limited_share", "1", "fraction of time it was throttled by heat"},
    Quantity{"ecc_errors", "1", "memory errors of the GPUs, corrected or not, in the window"},
    Quantity{"pcie_sent_rate", "MB/s", "sent by the GPUs over PCIe, sum"},
    Quantity{"pcie_received_rate", "MB/s", "received by the GPUs over PCIe, sum"},
    Quantity{"nvlink_sent_rate", "MB/s", "sent by the GPUs over NVLink, sum"},
    Quantity{"nvlink_received_rate", "MB/s", "received by the GPUs over NVLink, sum"},
    Quantity{"cpu_utilization", "%", "utilization of the assigned processors, by all programs"},
    Quantity{"cores_used", "1", "CPU time of the run's processes / elapsed time"},
    Quantity{"foreign_cpu_share", "1",
             "fraction of the assigned processors used by other programs"},
    Quantity{"iowait_share", "1",
             "fraction of the assigned processors idle while waiting for a disk"},
    Quantity{"steal_share", "1", "fraction of the assigned processors taken by the hypervisor"},
    Quantity{"memory_peak", "GiB", "peak resident memory of the run's processes, sum"},
    Quantity{"memory_available_min", "GiB", "minimum memory available on the machine"},
    Quantity{"memory_stall_share", "1", "fraction of time some program waited for memory"},
    Quantity{"io_stall_share", "1", "fraction of time some program waited for a disk"},
    Quantity{"major_faults", "1/s", "page faults of the run's processes that read from a disk"},
    Quantity{"read_rate", "MB/s", "read from storage by the run's processes"},
    Quantity{"write_rate", "MB/s", "written to storage by the run's processes"},
    Quantity{"context_switches", "1/s", "context switches of the run's threads, voluntary or not"},
    Quantity{"involuntary_switches", "1/s",
             "context switches of the run's threads by the scheduler"},
    Quantity{"cpu_power", "W", "power of the machine's processors, if it can be read"},
    Quantity{"cpu_energy", "J", "energy of the machine's processors in the window"},
    Quantity{"window", "s", "duration of the measurement window"},
    Quantity{"samples", "1", "readings in the window"},
};

}  // namespace

std::span<const Quantity> telemetry_quantities() { return kQuantities; }

const Quantity* find_quantity(std::string_view name) {
  const auto found = std::find_if(kQuantities.begin(), kQuantities.end(),
                                  [&](const Quantity& quantity) { return quantity.name == name; });
  return found == kQuantities.end() ? nullptr : &*found;
}

void add_quantity_names(std::vector<std::string>& names) {
  for (const Quantity& quantity : telemetry_quantities()) {
    const std::string name(quantity.name);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
}

}  // namespace doetune::study
