#include "runner/telemetry/package_energy.h"

#include <fmt/format.h>

namespace doetune::runner {
PackageEnergy::PackageEnergy(const std::filesystem::path& powercap) {
  for (int package = 0;; ++package) {
    const auto directory = powercap / fmt::format("intel-rapl:{}", package);
    std::error_code ignored;
    if (!std::filesystem::exists(directory, ignored)) return;
    ProcFile counter(directory / "energy_uj");
    const auto range = leading_number(ProcFile(directory / "max_energy_range_uj").read());
    if (!range || !leading_number(counter.read())) continue;
    packages_.push_back({std::move(counter), *range, {}});
  }
}

std::optional<double> PackageEnergy::read_j() {
  if (packages_.empty()) return std::nullopt;
  for (Package& package : packages_) {
    const auto now_uj = leading_number(package.counter.read());
    if (!now_uj) return std::nullopt;
    if (package.last_uj) {
      const double growth_uj = *now_uj - *package.last_uj;
      total_uj_ += growth_uj < 0 ? growth_uj + package.range_uj : growth_uj;
    }
    package.last_uj = now_uj;
  }
  return 1e-6 * total_uj_;
}

}  // namespace doetune::runner
