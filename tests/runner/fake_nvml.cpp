// An NVML whose machine is a JSON file that FAKE_NVML names:
//
//   {"init": 9,                                   a status: the driver is not loaded
//    "driver": "550.54.15", "cuda": 12040,
//    "hang_until": "FILE",                        readings block until the file is there
//    "gpus": [{"uuid": "GPU-1...", "name": "...", "handle": 15,
//              "memory": 80e9, "memory_used": [1e9, 2e9], "power_mW": 300000, ...
//              "energy_rate_mW": 250000,          the counter grows with CLOCK_MONOTONIC
//              "instances": [{"uuid": "MIG-1...", ...}]}]}
//
// What a device does not name is unsupported; "status" makes all its functions fail with it. A list
// is a script: one value per call, the last one is repeated. If FAKE_NVML_OLD is defined, functions
// of newer drivers are missing.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "runner/telemetry/nvml_library.h"

using nlohmann::json;
using namespace doetune::runner::nvml;

namespace doetune::runner::nvml {

struct NvmlDevice {
  json about;
  std::map<std::string, std::size_t> calls;  ///< by script
  std::vector<std::unique_ptr<NvmlDevice>> instances;
};

}  // namespace doetune::runner::nvml

namespace {

constexpr Return kInvalidArgument = 2;
constexpr Return kNotSupported = 3;

std::recursive_mutex mutex;
// Never destroyed: a thread that was left hanging may still ask when the program ends.
json& machine = *new json;
auto& gpus = *new std::vector<std::unique_ptr<NvmlDevice>>;

std::unique_ptr<NvmlDevice> make_device(const json& about) {
  auto device = std::make_unique<NvmlDevice>();
  device->about = about;
  for (const json& part : about.value("instances", json::array())) {
    device->instances.push_back(make_device(part));
  }
  return device;
}

void hang() {
  const std::string file = machine.value("hang_until", "");
  while (!file.empty() && !std::filesystem::exists(file)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// A device's value for a key; advances its script.
template <class Value>
Return report(Handle device, const std::string& key, Value* value) {
  const std::lock_guard lock(mutex);
  if (const int status = device->about.value("status", kSuccess)) return status;
  const auto found = device->about.find(key);
  if (found == device->about.end()) return kNotSupported;
  const json* now = &*found;
  if (now->is_array()) {
    const std::size_t call = device->calls[key]++;
    now = &(*now)[std::min(call, now->size() - 1)];
  }
  *value = static_cast<Value>(now->get<double>());
  return kSuccess;
}

Return report_text(const json& about, const char* key, char* text, unsigned size) {
  const std::string value = about.value(key, "");
  if (value.empty()) return kNotSupported;
  if (value.size() + 1 > size) return kInsufficientSize;
  std::memcpy(text, value.c_str(), value.size() + 1);
  return kSuccess;
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

extern "C" {

Return nvmlInit_v2() {
  const std::lock_guard lock(mutex);
  const char* file = std::getenv("FAKE_NVML");
  machine = file == nullptr ? json::object() : json::parse(std::ifstream(file));
  gpus.clear();
  for (const json& about : machine.value("gpus", json::array())) gpus.push_back(make_device(about));
  return machine.value("init", kSuccess);
}

Return nvmlShutdown() { return kSuccess; }

const char* nvmlErrorString(Return status) {
  return status == 9 ? "Driver Not Loaded" : status == 15 ? "GPU is lost" : "Unknown Error";
}

Return nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return report_text(machine, "driver", text, size);
}

Return nvmlSystemGetCudaDriverVersion(int* version) {
  *version = machine.value("cuda", 0);
  return *version == 0 ? kNotSupported : kSuccess;
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(gpus.size());
  return kSuccess;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* device) {
  if (index >= gpus.size()) return kInvalidArgument;
  *device = gpus[index].get();
  return gpus[index]->about.value("handle", kSuccess);
}

Return nvmlDeviceGetUUID(Handle device, char* text, unsigned size) {
  return report_text(device->about, "uuid", text, size);
}

Return nvmlDeviceGetName(Handle device, char* text, unsigned size) {
  return report_text(device->about, "name", text, size);
}

Return nvmlDeviceGetMemoryInfo(Handle device, Memory* memory) {
  hang();
  if (const Return status = report(device, "memory", &memory->total)) return status;
  return report(device, "memory_used", &memory->used);
}

Return nvmlDeviceGetPersistenceMode(Handle device, unsigned* on) {
  return report(device, "persistence", on);
}

Return nvmlDeviceGetEccMode(Handle device, unsigned* now, unsigned* pending) {
  *pending = 0;
  return report(device, "ecc", now);
}

Return nvmlDeviceGetComputeMode(Handle device, unsigned* mode) {
  return report(device, "compute_mode", mode);
}

Return nvmlDeviceGetEnforcedPowerLimit(Handle device, unsigned* limit_mw) {
  return report(device, "power_limit_mW", limit_mw);
}

Return nvmlDeviceGetClockInfo(Handle device, int kind, unsigned* clock_mhz) {
  return report(device, kind == kSmClock ? "sm_clock" : "memory_clock", clock_mhz);
}

Return nvmlDeviceGetMaxClockInfo(Handle device, int kind, unsigned* clock_mhz) {
  return report(device, kind == kSmClock ? "sm_clock_max" : "memory_clock_max", clock_mhz);
}

Return nvmlDeviceGetUtilizationRates(Handle device, Utilization* rates) {
  if (const Return status = report(device, "utilization", &rates->gpu)) return status;
  return report(device, "memory_utilization", &rates->memory);
}

Return nvmlDeviceGetPowerUsage(Handle device, unsigned* power_mw) {
  return report(device, "power_mW", power_mw);
}

Return nvmlDeviceGetTotalEnergyConsumption(Handle device, unsigned long long* energy_mj) {
  double rate_mw = 0;
  if (report(device, "energy_rate_mW", &rate_mw) == kSuccess) {
    *energy_mj = static_cast<unsigned long long>(rate_mw * now_s());
    return kSuccess;
  }
  return report(device, "energy_mJ", energy_mj);
}

Return nvmlDeviceGetTemperature(Handle device, int sensor, unsigned* temperature_c) {
  return sensor == kTemperatureOfGpu ? report(device, "temperature", temperature_c)
                                     : kInvalidArgument;
}

Return nvmlDeviceGetTotalEccErrors(Handle device, int kind, int, unsigned long long* count) {
  return report(device, kind == kCorrected ? "ecc_corrected" : "ecc_uncorrected", count);
}

Return nvmlDeviceGetCurrentClocksThrottleReasons(Handle device, unsigned long long* reasons) {
  return report(device, "clock_events", reasons);
}

}  // extern "C"

#ifndef FAKE_NVML_OLD

namespace {

/// PCIe and NVLink counters are 64 bits wide, power is 32.
void fill(Handle device, FieldValue& field) {
  static const auto& keys =  // never destroyed, like the GPUs
      *new std::map<unsigned, const char*>{{kPowerNow_mw, "power_now_mW"},
                                           {kPcieSent_b, "pcie_sent"},
                                           {kPcieReceived_b, "pcie_received"},
                                           {kNvlinkSent_kib, "nvlink_sent_KiB"},
                                           {kNvlinkReceived_kib, "nvlink_received_KiB"}};
  const auto key = keys.find(field.field);
  const bool link = field.field == kNvlinkSent_kib || field.field == kNvlinkReceived_kib;
  if (key == keys.end() || (link && field.scope != kAllLinks)) {
    field.status = kInvalidArgument;
    return;
  }
  if (field.field == kPowerNow_mw) {
    field.type = 1;
    field.status = report(device, key->second, &field.value.uint32);
  } else {
    field.type = 3;
    field.status = report(device, key->second, &field.value.uint64);
  }
}

}  // namespace

extern "C" {

Return nvmlDeviceGetMemoryInfo_v2(Handle device, MemoryV2* memory) {
  hang();
  if (memory->version != 0x02000028) return kInvalidArgument;
  if (const Return status = report(device, "memory", &memory->total)) return status;
  if (const Return status = report(device, "memory_used", &memory->used)) return status;
  report(device, "memory_reserved", &memory->reserved);
  memory->used -= memory->reserved;
  return kSuccess;
}

Return nvmlDeviceGetComputeRunningProcesses_v3(Handle device, unsigned* count,
                                               ComputeProcess* found) {
  const json pids = device->about.value("processes", json::array());
  const auto capacity = std::exchange(*count, static_cast<unsigned>(pids.size()));
  if (pids.size() > capacity) return kInsufficientSize;
  for (unsigned i = 0; i < *count; ++i) found[i] = {pids[i].get<unsigned>(), 1 << 20, 0, 0};
  return kSuccess;
}

Return nvmlDeviceGetMigMode(Handle device, unsigned* now, unsigned* pending) {
  *pending = 0;
  return report(device, "mig", now);
}

Return nvmlDeviceGetMaxMigDeviceCount(Handle device, unsigned* count) {
  return report(device, "max_instances", count);
}

constexpr Return kNotFound = 6;

Return nvmlDeviceGetMigDeviceHandleByIndex(Handle device, unsigned index, Handle* instance) {
  if (index >= device->instances.size()) return kNotFound;
  if (device->instances[index]->about.empty()) return kNotFound;  // a gap
  *instance = device->instances[index].get();
  return kSuccess;
}

Return nvmlDeviceGetFieldValues(Handle device, int count, FieldValue* values) {
  if (const int status = device->about.value("status", kSuccess)) return status;
  for (int i = 0; i < count; ++i) fill(device, values[i]);
  return kSuccess;
}

}  // extern "C"

#endif
