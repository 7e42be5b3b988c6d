// A line of telemetry.csv: the readings at one time.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/telemetry/nvml.h"

namespace doetune::runner {

/// The machine and the attempt's processes. Fractions refer to the assigned processors and the time
/// since the previous reading; quantities ending in _s or _j and counts are cumulative. What was
/// not or could not be read is empty.
struct HostSample {
  std::optional<double> cpu_busy;   ///< fraction
  std::optional<double> iowait;     ///< fraction
  std::optional<double> steal;      ///< fraction
  std::optional<double> others;     ///< fraction used by processes outside the attempt
  std::optional<double> processes;  ///< number alive
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
  std::vector<GpuSample> gpus;  ///< in the order of assignment
};

template <class Part>
struct Column {
  std::string_view name;  ///< with its unit; for a GPU prefixed by "gpu0_"
  std::optional<double> Part::*value;
};

std::span<const Column<HostSample>> host_columns();
std::span<const Column<GpuSample>> gpu_columns();

/// The header line: time_s, the host's columns, the columns of each GPU.
std::string telemetry_header(std::size_t gpus);

/// Appends a line; missing values are empty cells.
void append_line(std::string& text, const Sample& sample);

struct Telemetry {
  std::vector<Sample> samples;  ///< in time order
  std::string problem;          ///< why there are none
};

/// Parses telemetry.csv. Any program may have written it: lines that are incomplete (the last one
/// after a power failure), not finite or not later than the previous one are skipped.
Telemetry parse_telemetry(std::string_view text);

}  // namespace doetune::runner
