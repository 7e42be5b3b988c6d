#include "study/quantities.h"

#include <algorithm>
#include <array>

namespace doetune::study {
namespace {

// Where nothing else is said: the mean over the window measured.
constexpr std::array kQuantities{
    Quantity{"power", "W", "power of the run's GPUs, added up"},
    Quantity{"energy", "J", "energy that the run's GPUs used in the window"},
    Quantity{"images_per_joule", "1/J", "throughput over power, of a run that has a throughput"},
    Quantity{"gpu_utilization", "%", "part of the time in which a kernel ran, mean of the GPUs"},
    Quantity{"gpu_memory_utilization", "%",
             "part of the time in which GPU memory was read or written, mean of the GPUs"},
    Quantity{"gpu_memory_peak", "GiB", "most memory used on one GPU, whoever used it"},
    Quantity{"sm_clock", "MHz", "clock of the streaming multiprocessors, mean of the GPUs"},
    Quantity{"memory_clock", "MHz", "clock of the GPU memory, mean of the GPUs"},
    Quantity{"temperature_max", "C", "highest temperature of a GPU"},
    Quantity{"throttled_share", "1", "part of the time in which a GPU was held back by anything"},
    Quantity{"power_limited_share", "1", "part of the time in which the power limit held it back"},
    Quantity{"thermal_limited_share", "1", "part of the time in which heat held it back"},
    Quantity{"ecc_errors", "1", "memory errors of the GPUs, corrected or not, in the window"},
    Quantity{"pcie_sent_rate", "MB/s", "from the GPUs over PCIe, added up"},
    Quantity{"pcie_received_rate", "MB/s", "to the GPUs over PCIe, added up"},
    Quantity{"nvlink_sent_rate", "MB/s", "from the GPUs over NVLink, added up"},
    Quantity{"nvlink_received_rate", "MB/s", "to the GPUs over NVLink, added up"},
    Quantity{"cpu_utilization", "%", "busy part of the processors assigned, whoever used them"},
    Quantity{"cores_used", "1", "processor time of the run's processes over the time that passed"},
    Quantity{"foreign_cpu_share", "1", "part of the processors assigned that others used"},
    Quantity{"iowait_share", "1", "part of the processors assigned idle while a disk was awaited"},
    Quantity{"steal_share", "1", "part of the processors assigned that the hypervisor took away"},
    Quantity{"memory_peak", "GiB", "most memory resident of the run's processes, added up"},
    Quantity{"memory_available_min", "GiB", "least memory available on the machine"},
    Quantity{"memory_stall_share", "1", "part of the time in which some program awaited memory"},
    Quantity{"io_stall_share", "1", "part of the time in which some program awaited a disk"},
    Quantity{"major_faults", "1/s", "pages that the run's processes had to read from a disk"},
    Quantity{"read_rate", "MB/s", "read from storage by the run's processes"},
    Quantity{"write_rate", "MB/s", "written to storage by the run's processes"},
    Quantity{"context_switches", "1/s", "of the run's threads, voluntary or not"},
    Quantity{"involuntary_switches", "1/s", "of the run's threads, by the scheduler"},
    Quantity{"cpu_power", "W", "power of the machine's processors, where it can be read"},
    Quantity{"cpu_energy", "J", "energy of the machine's processors in the window"},
    Quantity{"window", "s", "time over which these were measured"},
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
