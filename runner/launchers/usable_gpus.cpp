#include "runner/launchers/usable_gpus.h"

#include <algorithm>
#include <cstdlib>

#include "runner/telemetry/nvml.h"

namespace doetune::runner {
namespace {

std::vector<std::string> ids_of(const Gpu& gpu) {
  if (!gpu.mig) return {gpu.uuid};
  std::vector<std::string> ids;
  for (const MigInstance& instance : gpu.instances) ids.push_back(instance.uuid);
  return ids;
}

/// Whether an entry names the device: CUDA accepts a prefix of a UUID.
bool names(const std::string& entry, const std::string& id) {
  return !entry.empty() && id.starts_with(entry);
}

}  // namespace

std::optional<std::vector<std::string>> visible_devices() {
  const char* variable = std::getenv("CUDA_VISIBLE_DEVICES");
  if (variable == nullptr) return std::nullopt;
  std::vector<std::string> entries;
  const std::string list(variable);
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) entries.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

UsableGpus usable_gpus() {
  const auto visible = visible_devices();
  if (visible && visible->empty()) return {{}, "CUDA_VISIBLE_DEVICES is empty"};
  const Nvml nvml;
  UsableGpus usable{{}, nvml.problem()};
  const std::vector<Gpu> gpus = nvml.list_gpus();
  if (visible && gpus.empty()) {
    usable.ids = *visible;
    return usable;
  }
  for (const Gpu& gpu : gpus) {
    for (const std::string& id : ids_of(gpu)) {
      const bool seen =
          !visible || std::any_of(visible->begin(), visible->end(),
                                  [&](const auto& entry) { return names(entry, id); });
      if (seen) usable.ids.push_back(id);
    }
  }
  // The indices in the variable are CUDA's own and are passed on unchanged.
  if (visible && usable.ids.empty()) usable.ids = *visible;
  return usable;
}

}  // namespace doetune::runner
