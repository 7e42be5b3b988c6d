// Energy of the processors by RAPL (running average power limit), where the kernel lets it be read.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "runner/processes/proc_files.h"

namespace doetune::runner {

/// The counters intel-rapl:N/energy_uj of the kernel's power capping framework, one a package
/// (AMD's have the same names). Most systems let only root read them.
class PackageEnergy {
 public:
  explicit PackageEnergy(const std::filesystem::path& powercap = "/sys/class/powercap");

  /// Joules since the first reading, over all packages. A counter may wrap around once between two
  /// readings, which takes a minute at least. Empty where there is none that can be read.
  std::optional<double> read_j();

 private:
  struct Package {
    ProcFile counter;
    double range_uj = 0;  ///< where it starts again from 0
    std::optional<double> last_uj;
  };
  std::vector<Package> packages_;
  double total_uj_ = 0;
};

}  // namespace doetune::runner
