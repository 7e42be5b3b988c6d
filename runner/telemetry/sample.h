// One line of telemetry.csv: what was read at a moment.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/telemetry/nvml.h"

namespace doetune::runner {

/// The machine and the attempt's processes. Shares are of the processors assigned, over the time
/// since the reading before; what ends in _s, _j or counts something is a total that grows. What
/// cannot be read, or was not read at that moment, is empty.
struct HostSample {
  std::optional<double> cpu_busy;   ///< share
  std::optional<double> iowait;     ///< share
  std::optional<double> steal;      ///< share
  std::optional<double> others;     ///< share used by processes that are not the attempt's
  std::optional<double> processes;  ///< alive
  std::optional<double> process_cpu_s;
  std::optional<double> resident_bytes;
  std::optional<double> read_bytes;
  std::optional<double> written_bytes;
  std::optional<double> major_faults;
  std::optional<double> voluntary_switches;
  std::optional<double> involuntary_switches;
  std::optional<double> memory_available_bytes;  ///< of the machine
  std::optional<double> swap_used_bytes;         ///< of the machine
  std::optional<double> memory_stall_s;          ///< of the machine: some task waited for memory
  std::optional<double> io_stall_s;              ///< of the machine: some task waited for a disk
  std::optional<double> package_energy_j;        ///< of the machine's processors
};

struct GpuSample : GpuReading, GpuCounters {};

struct Sample {
  double time_s = 0;  ///< CLOCK_MONOTONIC
  HostSample host;
  std::vector<GpuSample> gpus;  ///< in the order in which they were assigned
};

template <class Part>
struct Column {
  std::string_view name;  ///< with its unit; a GPU's comes after "gpu0_"
  std::optional<double> Part::*value;
};

std::span<const Column<HostSample>> host_columns();
std::span<const Column<GpuSample>> gpu_columns();

/// The first line: time_s, the host's columns, those of each GPU.
std::string telemetry_header(std::size_t gpus);

/// Appends a line; what is missing is an empty cell.
void append_line(std::string& text, const Sample& sample);

struct Telemetry {
  std::vector<Sample> samples;  ///< in the order of time
  std::string problem;          ///< why there are none
};

/// Reads telemetry.csv. Any program may have written it: a line that is not complete (the last one
/// of a machine that lost its power), not finite or not later than the one before is passed over.
Telemetry parse_telemetry(std::string_view text);

}  // namespace doetune::runner
