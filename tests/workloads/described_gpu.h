// The properties of a GPU, for planning without the device.
#pragma once

#include <string_view>

namespace doetune::workloads {

// An H200 in the JSON format by which cuDNN 9.11 and later describe an absent device: the
// properties that the CUDA runtime reports.
inline constexpr std::string_view kH200 = R"({
  "cudaDeviceId": 0, "deviceName": "NVIDIA H200", "deviceVer": 900, "driverVer": 13000,
  "isTccDriver": 0, "l2CacheSize": 62914560, "maxBlockSize": [1024, 1024, 64], "maxCtasPerSM": 32,
  "maxGridSize": [2147483647, 65535, 65535], "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "memClockRateKHz": 3201000,
  "multiProcessorCount": 132, "name": "NVIDIA H200", "pciDeviceId": 0, "regsPerBlock": 65536,
  "reservedSharedMemoryPerBlock": 1024, "smClockRateKHz": 1980000, "supportCoopLaunch": 1,
  "totalGlobalMem": 150110011392, "warpSize": 32})";

}  // namespace doetune::workloads
