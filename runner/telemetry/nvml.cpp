#include "runner/telemetry/nvml.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "runner/telemetry/nvml_library.h"

namespace doetune::runner {
namespace {

using nvml::FieldValue;
using nvml::Handle;
using nvml::Return;

std::optional<double> number_in(const FieldValue& field) {
  if (field.status != nvml::kSuccess) return std::nullopt;
  switch (field.type) {
    case 0:
      return field.value.real;
    case 1:
      return field.value.uint32;
    case 2:
      return static_cast<double>(field.value.ulong);
    case 3:
      return static_cast<double>(field.value.uint64);
    case 4:
      return static_cast<double>(field.value.int64);
    case 5:
      return field.value.int32;
    case 6:
      return field.value.uint16;
    default:
      return std::nullopt;
  }
}

/// The value that a function returns through its last argument.
template <class Value, class Function, class... Arguments>
std::optional<Value> ask(const Function& function, Arguments... arguments) {
  Value value{};
  if (!function(arguments..., &value)) return std::nullopt;
  return value;
}

template <class Function, class... Arguments>
std::optional<std::string> ask_text(const Function& function, Arguments... arguments) {
  std::array<char, 256> text{};
  if (!function(arguments..., text.data(), static_cast<unsigned>(text.size() - 1))) {
    return std::nullopt;
  }
  return std::string(text.data());
}

template <class Value>
std::optional<double> scaled(const std::optional<Value>& value, double factor) {
  if (!value) return std::nullopt;
  return factor * static_cast<double>(*value);
}

std::optional<int> whole(const std::optional<unsigned>& value) {
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

std::optional<bool> flag(const std::optional<unsigned>& value) {
  if (!value) return std::nullopt;
  return *value != 0;
}

std::string library_name() {
  const char* other = std::getenv("DOETUNE_NVML");
  return other != nullptr && *other != '\0' ? other : "libnvidia-ml.so.1";
}

}  // namespace

class Nvml::Device {
 public:
  Handle handle = nullptr;
  int index = 0;  ///< of the GPU, or of the GPU that contains the instance
  bool is_instance = false;
  std::string uuid;
};

struct Nvml::Library : nvml::Functions {
  bool initialised = false;
  std::vector<Device> devices;  ///< GPUs, each followed by its MIG instances

  Library() : Functions(library_name()) {}
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  void find_devices();
  void add_instances(const Device& gpu);
  std::optional<unsigned long long> memory_total(Handle handle) const;
  std::optional<double> memory_used(Handle handle) const;
  std::optional<double> power_w(Handle handle) const;
  std::vector<int> processes(Handle handle) const;
  Gpu describe(const Device& device) const;
};

Nvml::Library::~Library() {
  if (initialised) shutdown();
}

void Nvml::Library::find_devices() {
  if (!problem.empty()) return;
  if (const Return status = init.call(); status != nvml::kSuccess) {
    problem = fmt::format("NVML cannot be started: {}", explain(status));
    return;
  }
  initialised = true;
  const unsigned gpus = ask<unsigned>(count).value_or(0);
  if (gpus == 0) problem = "the driver finds no GPU";
  for (unsigned index = 0; index < gpus; ++index) {
    Device gpu;
    gpu.index = static_cast<int>(index);
    if (const Return status = by_index.call(index, &gpu.handle); status != nvml::kSuccess) {
      problem = fmt::format("GPU {} cannot be used: {}", index, explain(status));
      continue;
    }
    gpu.uuid = ask_text(uuid, gpu.handle).value_or("");
    devices.push_back(gpu);
    add_instances(gpu);
  }
}

void Nvml::Library::add_instances(const Device& gpu) {
  const unsigned max_count = ask<unsigned>(max_instances, gpu.handle).value_or(0);
  for (unsigned i = 0; i < max_count; ++i) {
    Device part;
    if (!instance(gpu.handle, i, &part.handle)) continue;  // indices may have gaps
    part.index = gpu.index;
    part.is_instance = true;
    part.uuid = ask_text(uuid, part.handle).value_or("");
    devices.push_back(part);
  }
}

std::optional<unsigned long long> Nvml::Library::memory_total(Handle handle) const {
  const auto all = ask<nvml::Memory>(memory, handle);
  if (!all) return std::nullopt;
  return all->total;
}

std::optional<double> Nvml::Library::memory_used(Handle handle) const {
  if (const auto all = ask<nvml::MemoryV2>(memory_v2, handle))
    return static_cast<double>(all->used);
  if (const auto all = ask<nvml::Memory>(memory, handle)) return static_cast<double>(all->used);
  return std::nullopt;
}

std::optional<double> Nvml::Library::power_w(Handle handle) const {
  FieldValue now{};
  now.field = nvml::kPowerNow_mw;
  if (fields(handle, 1, &now)) {
    if (const auto power_mw = number_in(now)) return scaled(power_mw, 1e-3);
  }
  return scaled(ask<unsigned>(power, handle), 1e-3);
}

std::vector<int> Nvml::Library::processes(Handle handle) const {
  std::vector<nvml::ComputeProcess> found(64);
  auto number = static_cast<unsigned>(found.size());
  Return status = compute_processes.call(handle, &number, found.data());
  if (status == nvml::kInsufficientSize) {
    found.resize(number + 64);  // spare capacity for processes that start meanwhile
    number = static_cast<unsigned>(found.size());
    status = compute_processes.call(handle, &number, found.data());
  }
  std::vector<int> pids;
  if (status != nvml::kSuccess) return pids;
  for (unsigned i = 0; i < number; ++i) pids.push_back(static_cast<int>(found[i].pid));
  return pids;
}

Gpu Nvml::Library::describe(const Device& device) const {
  constexpr std::array<const char*, 4> kComputeModes{"default", "exclusive_thread", "prohibited",
                                                     "exclusive_process"};
  const Handle handle = device.handle;
  Gpu gpu;
  gpu.index = device.index;
  gpu.uuid = device.uuid;
  gpu.name = ask_text(name, handle).value_or("");
  gpu.memory_bytes = memory_total(handle);
  gpu.persistence = flag(ask<unsigned>(persistence, handle));
  unsigned now = 0;
  unsigned pending = 0;
  if (ecc_mode(handle, &now, &pending)) gpu.ecc = now != 0;
  if (mig_mode(handle, &now, &pending)) gpu.mig = now != 0;
  const auto mode = ask<unsigned>(compute_mode, handle);
  if (mode && *mode < kComputeModes.size()) gpu.compute_mode = kComputeModes[*mode];
  gpu.power_limit_w = scaled(ask<unsigned>(power_limit, handle), 1e-3);
  gpu.sm_clock_mhz = whole(ask<unsigned>(clock, handle, nvml::kSmClock));
  gpu.sm_clock_max_mhz = whole(ask<unsigned>(max_clock, handle, nvml::kSmClock));
  gpu.memory_clock_mhz = whole(ask<unsigned>(clock, handle, nvml::kMemoryClock));
  gpu.memory_clock_max_mhz = whole(ask<unsigned>(max_clock, handle, nvml::kMemoryClock));
  gpu.processes = processes(handle);
  return gpu;
}

Nvml::Nvml() : library_(std::make_unique<Library>()) { library_->find_devices(); }

Nvml::~Nvml() = default;

const std::string& Nvml::problem() const { return library_->problem; }

std::optional<std::string> Nvml::driver_version() const {
  if (!library_->initialised) return std::nullopt;
  return ask_text(library_->driver_version);
}

std::optional<std::string> Nvml::cuda_version() const {
  if (!library_->initialised) return std::nullopt;
  const auto version = ask<int>(library_->cuda_version);
  if (!version) return std::nullopt;
  return fmt::format("{}.{}", *version / 1000, *version % 1000 / 10);
}

std::vector<Gpu> Nvml::list_gpus() const {
  std::vector<Gpu> gpus;
  for (const Device& device : library_->devices) {
    if (device.is_instance) {
      gpus.back().instances.push_back({device.uuid,
                                       ask_text(library_->name, device.handle).value_or(""),
                                       library_->memory_total(device.handle)});
    } else {
      gpus.push_back(library_->describe(device));
    }
  }
  return gpus;
}

const Nvml::Device* Nvml::find(const std::string& id) const {
  const Device* found = nullptr;
  for (const Device& device : library_->devices) {
    if (!device.is_instance && id == fmt::format("{}", device.index)) return &device;
    if (id.size() <= 4 || !device.uuid.starts_with(id)) continue;  // "GPU-" matches every UUID
    if (found != nullptr) return nullptr;
    found = &device;
  }
  return found;
}

GpuReading Nvml::read(const Device& device) const {
  GpuReading reading;
  const Handle handle = device.handle;
  reading.memory_used_bytes = library_->memory_used(handle);
  if (device.is_instance) return reading;
  if (const auto utilization_percent = ask<nvml::Utilization>(library_->utilization, handle)) {
    reading.utilization = 0.01 * utilization_percent->gpu;
    reading.memory_utilization = 0.01 * utilization_percent->memory;
  }
  reading.power_w = library_->power_w(handle);
  reading.energy_j = scaled(ask<unsigned long long>(library_->energy, handle), 1e-3);
  reading.sm_clock_mhz = scaled(ask<unsigned>(library_->clock, handle, nvml::kSmClock), 1);
  reading.memory_clock_mhz = scaled(ask<unsigned>(library_->clock, handle, nvml::kMemoryClock), 1);
  reading.temperature_c =
      scaled(ask<unsigned>(library_->temperature, handle, nvml::kTemperatureOfGpu), 1);
  reading.clock_events = scaled(ask<unsigned long long>(library_->clock_events, handle), 1);
  return reading;
}

GpuCounters Nvml::read_counters(const Device& device) const {
  GpuCounters counters;
  if (device.is_instance) return counters;
  const auto errors = [&](int kind) {
    return scaled(
        ask<unsigned long long>(library_->ecc_errors, device.handle, kind, nvml::kSinceDriverLoad),
        1);
  };
  counters.ecc_corrected = errors(nvml::kCorrected);
  counters.ecc_uncorrected = errors(nvml::kUncorrected);
  std::array<FieldValue, 4> fields{};
  fields[0].field = nvml::kPcieSent_b;
  fields[1].field = nvml::kPcieReceived_b;
  fields[2].field = nvml::kNvlinkSent_kib;
  fields[3].field = nvml::kNvlinkReceived_kib;
  fields[2].scope = fields[3].scope = nvml::kAllLinks;
  if (!library_->fields(device.handle, static_cast<int>(fields.size()), fields.data())) {
    return counters;
  }
  counters.pcie_sent_bytes = number_in(fields[0]);
  counters.pcie_received_bytes = number_in(fields[1]);
  counters.nvlink_sent_bytes = scaled(number_in(fields[2]), 1024);
  counters.nvlink_received_bytes = scaled(number_in(fields[3]), 1024);
  return counters;
}

}  // namespace doetune::runner
