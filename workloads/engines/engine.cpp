#include "workloads/engines/engine.h"

#include <array>
#include <utility>

#include "workloads/cuda/cuda_library.h"
#include "workloads/engines/onednn/onednn_engine.h"
#include "workloads/engines/training.h"

namespace doetune::workloads {
namespace {

constexpr std::array<std::pair<Precision, std::string_view>, 4> kPrecisions{
    {{Precision::fp32, "fp32"},
     {Precision::tf32, "tf32"},
     {Precision::bf16, "bf16"},
     {Precision::fp16, "fp16"}}};

int one(std::string*) { return 1; }

int cuda_devices(std::string* why_none) {
  try {
    return cuda_library().devices(why_none);
  } catch (const NoDevice& error) {
    *why_none = error.what();
    return 0;
  }
}

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions& options) {
  return cuda_library().make_engine(options);
}

const EngineType& engine_type(std::string_view device) {
  std::string known = "auto";
  for (const EngineType& type : engine_types()) {
    if (type.device == device) return type;
    known += ", " + std::string(type.device);
  }
  throw NoDevice("there is no device '" + std::string(device) + "'; there are " + known);
}

}  // namespace

std::unique_ptr<TrainableNetwork> Engine::train(const Network&, std::span<const float>,
                                                std::span<const float>, const TrainingOptions&) {
  throw CannotRun("this engine cannot train");
}

std::unique_ptr<TrainableStage> Engine::train_stage(const Network&, std::span<const float>,
                                                    std::span<const float>, const TrainingOptions&,
                                                    int) {
  throw CannotRun(
      "the engine of this device trains whole networks, not stages; device cpu trains stages");
}

std::string_view name_of(Precision precision) {
  return kPrecisions[static_cast<std::size_t>(precision)].second;
}

Precision precision_named(std::string_view name) {
  for (const auto& [precision, its_name] : kPrecisions)
    if (its_name == name) return precision;
  throw std::invalid_argument("there is no precision '" + std::string(name) + "'");
}

int bytes_of(Precision precision) {
  return precision == Precision::bf16 || precision == Precision::fp16 ? 2 : 4;
}

std::span<const EngineType> engine_types() {
  static constexpr EngineType kTypes[] = {{"cuda", make_cuda_engine, cuda_devices},
                                          {"cpu", make_onednn_engine, one}};
  return kTypes;
}

std::string_view resolve_device(std::string_view device) {
  if (device != "auto") return engine_type(device).device;
  std::string ignored;
  for (const EngineType& type : engine_types())
    if (type.devices(&ignored) > 0) return type.device;
  throw NoDevice(ignored);
}

std::unique_ptr<Engine> make_engine(std::string_view device, const EngineOptions& options) {
  return engine_type(resolve_device(device)).make(options);
}

int device_count(std::string_view device) {
  std::string why_none;
  const int count = engine_type(resolve_device(device)).devices(&why_none);
  if (count == 0) throw NoDevice(why_none);
  return count;
}

}  // namespace doetune::workloads
