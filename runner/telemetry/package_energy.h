// Energy of the processors by RAPL (running average power limit), if the kernel permits reading.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "runner/processes/proc_files.h"

namespace doetune::runner {

/// The counters intel-rapl:N/energy_uj of the kernel's power capping framework, one per package
/// (also on AMD). On most systems only root may read them.
class PackageEnergy {
 public:
  explicit PackageEnergy(const std::filesystem::path& powercap = "/sys/class/powercap");

  /// Joules since the first reading, summed over all packages. A counter may wrap around at most
  /// once between two readings; wrapping takes at least a minute. Empty if none can be read.
  std::optional<double> read_j();

 private:
  struct Package {
    ProcFile counter;
    double range_uj = 0;  ///< value at which it wraps to 0
    std::optional<double> last_uj;
  };
  std::vector<Package> packages_;
  double total_uj_ = 0;
};

}  // namespace doetune::runner
