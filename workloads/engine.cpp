#include "workloads/engine.h"

#include "workloads/engine_onednn.h"

namespace doetune::workloads {

std::span<const EngineType> engine_types() {
  static constexpr EngineType kTypes[] = {{"cpu", make_onednn_engine}};
  return kTypes;
}

std::unique_ptr<Engine> make_engine(std::string_view device) {
  for (const EngineType& type : engine_types())
    if (device == "auto" || device == type.device)
      if (auto engine = type.make()) return engine;
  throw std::runtime_error("no engine in this build runs on device '" + std::string(device) + "'");
}

}  // namespace doetune::workloads
