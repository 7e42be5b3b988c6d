// The properties of GPUs, for planning without the device.
#pragma once

#include <string_view>

namespace doetune::workloads {

// GPUs in the JSON format by which cuDNN 9.11 and later describe an absent device: the properties
// that the CUDA runtime reports.
inline constexpr std::string_view kA100 = R"({
  "cudaDeviceId": 0, "deviceName": "NVIDIA A100-SXM4-80GB", "deviceVer": 800, "driverVer": 13000,
  "isTccDriver": 0, "l2CacheSize": 41943040, "maxBlockSize": [1024, 1024, 64], "maxCtasPerSM": 32,
  "maxGridSize": [2147483647, 65535, 65535], "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 166912,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "memClockRateKHz": 1593000,
  "multiProcessorCount": 108, "name": "NVIDIA A100-SXM4-80GB", "pciDeviceId": 0,
  "regsPerBlock": 65536, "reservedSharedMemoryPerBlock": 1024, "smClockRateKHz": 1410000,
  "supportCoopLaunch": 1, "totalGlobalMem": 85097971712, "warpSize": 32})";

inline constexpr std::string_view kH100 = R"({
  "cudaDeviceId": 0, "deviceName": "NVIDIA H100 80GB HBM3", "deviceVer": 900, "driverVer": 13000,
  "isTccDriver": 0, "l2CacheSize": 52428800, "maxBlockSize": [1024, 1024, 64], "maxCtasPerSM": 32,
  "maxGridSize": [2147483647, 65535, 65535], "maxRegistersPerSM": 65536,
  "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448,
  "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "memClockRateKHz": 2619000,
  "multiProcessorCount": 132, "name": "NVIDIA H100 80GB HBM3", "pciDeviceId": 0,
  "regsPerBlock": 65536, "reservedSharedMemoryPerBlock": 1024, "smClockRateKHz": 1980000,
  "supportCoopLaunch": 1, "totalGlobalMem": 85017755648, "warpSize": 32})";

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
