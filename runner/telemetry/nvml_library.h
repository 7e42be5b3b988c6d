// The part of NVML's binary interface used here: types, and functions looked up at run time.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

namespace doetune::runner::nvml {

// Values from the NVML API reference manual.
using Handle = struct NvmlDevice*;  // opaque

using Return = int;
constexpr Return kSuccess = 0;
constexpr Return kInsufficientSize = 7;
constexpr int kTemperatureOfGpu = 0;
constexpr int kSmClock = 1;
constexpr int kMemoryClock = 2;
constexpr int kCorrected = 0;
constexpr int kUncorrected = 1;
constexpr int kSinceDriverLoad = 0;
constexpr unsigned kPowerNow_mw = 186;
constexpr unsigned kPcieSent_b = 197;
constexpr unsigned kPcieReceived_b = 198;
constexpr unsigned kNvlinkSent_kib = 138;
constexpr unsigned kNvlinkReceived_kib = 139;
constexpr unsigned kAllLinks = std::numeric_limits<unsigned>::max();

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

struct MemoryV2 {
  unsigned version = 40 | 2U << 24U;  ///< size of the struct, and its version 2
  unsigned long long total = 0;
  unsigned long long reserved = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

struct FieldValue {
  unsigned field;
  unsigned scope;
  std::int64_t timestamp_us;
  std::int64_t latency_us;
  int type;
  Return status;
  union {
    double real;
    unsigned uint32;
    unsigned long ulong;
    unsigned long long uint64;
    long long int64;
    int int32;
    unsigned short uint16;
  } value;
};

struct ComputeProcess {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

static_assert(sizeof(MemoryV2) == 40 && sizeof(FieldValue) == 40 && sizeof(ComputeProcess) == 24,
              "as the library has them");

/// A function of the library; calling a missing one fails.
template <class... Arguments>
class Function {
 public:
  /// Looks up the first available name; names are ordered newest first.
  Function(void* library, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (library != nullptr && pointer_ == nullptr) {
        pointer_ = reinterpret_cast<Return (*)(Arguments...)>(::dlsym(library, name));
      }
    }
  }
  Return call(Arguments... arguments) const {
    constexpr Return kFunctionNotFound = 13;
    return pointer_ == nullptr ? kFunctionNotFound : pointer_(arguments...);
  }
  bool operator()(Arguments... arguments) const { return call(arguments...) == kSuccess; }

 private:
  Return (*pointer_)(Arguments...) = nullptr;
};

/// The library file and its functions; without the file every call fails.
class Functions {
  void* file_;

 public:
  explicit Functions(const std::string& file);
  ~Functions();
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  std::string problem;  ///< why the file could not be opened

  /// The library's description of a status.
  std::string explain(Return status) const;

  template <class... Arguments>
  using F = Function<Arguments...>;
  F<> init{file_, {"nvmlInit_v2", "nvmlInit"}};
  F<> shutdown{file_, {"nvmlShutdown"}};
  F<char*, unsigned> driver_version{file_, {"nvmlSystemGetDriverVersion"}};
  F<int*> cuda_version{file_,
                       {"nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion"}};
  F<unsigned*> count{file_, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}};
  F<unsigned, Handle*> by_index{file_,
                                {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}};
  F<Handle, char*, unsigned> uuid{file_, {"nvmlDeviceGetUUID"}};
  F<Handle, char*, unsigned> name{file_, {"nvmlDeviceGetName"}};
  F<Handle, Memory*> memory{file_, {"nvmlDeviceGetMemoryInfo"}};
  F<Handle, MemoryV2*> memory_v2{file_, {"nvmlDeviceGetMemoryInfo_v2"}};
  F<Handle, unsigned*> persistence{file_, {"nvmlDeviceGetPersistenceMode"}};
  F<Handle, unsigned*, unsigned*> ecc_mode{file_, {"nvmlDeviceGetEccMode"}};
  F<Handle, unsigned*> compute_mode{file_, {"nvmlDeviceGetComputeMode"}};
  F<Handle, unsigned*> power_limit{file_, {"nvmlDeviceGetEnforcedPowerLimit"}};
  F<Handle, int, unsigned*> clock{file_, {"nvmlDeviceGetClockInfo"}};
  F<Handle, int, unsigned*> max_clock{file_, {"nvmlDeviceGetMaxClockInfo"}};
  F<Handle, unsigned*, ComputeProcess*> compute_processes{
      file_,
      {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}};
  F<Handle, unsigned*, unsigned*> mig_mode{file_, {"nvmlDeviceGetMigMode"}};
  F<Handle, unsigned*> max_instances{file_, {"nvmlDeviceGetMaxMigDeviceCount"}};
  F<Handle, unsigned, Handle*> instance{file_, {"nvmlDeviceGetMigDeviceHandleByIndex"}};
  F<Handle, Utilization*> utilization{file_, {"nvmlDeviceGetUtilizationRates"}};
  F<Handle, unsigned*> power{file_, {"nvmlDeviceGetPowerUsage"}};
  F<Handle, unsigned long long*> energy{file_, {"nvmlDeviceGetTotalEnergyConsumption"}};
  F<Handle, int, unsigned*> temperature{file_, {"nvmlDeviceGetTemperature"}};
  F<Handle, unsigned long long*> clock_events{
      file_,
      {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}};
  F<Handle, int, int, unsigned long long*> ecc_errors{file_, {"nvmlDeviceGetTotalEccErrors"}};
  F<Handle, int, FieldValue*> fields{file_, {"nvmlDeviceGetFieldValues"}};
};

}  // namespace doetune::runner::nvml
