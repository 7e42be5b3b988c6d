// The sources read by the telemetry recorder, and their sampling intervals.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runner/processes/proc_files.h"
#include "runner/telemetry/pace.h"
#include "runner/telemetry/package_energy.h"
#include "runner/telemetry/process_trees.h"
#include "runner/telemetry/recorder.h"
#include "runner/telemetry/sample.h"

namespace doetune::runner {

/// The readings of one attempt at one time.
struct Reading {
  double time_s = 0;  ///< CLOCK_MONOTONIC
  CpuTimes cpu;       ///< of the assigned processors
  HostSample host;    ///< without the fractions
  std::vector<GpuSample> gpus;
};

/// All files, processes and GPUs that are read; for use by one thread.
class Sources {
 public:
  /// One reading for each attempt; what is not due or cannot be read is empty. May block if a
  /// driver hangs.
  std::vector<Reading> read(const std::vector<TelemetryTarget>& targets);

 private:
  void follow(const std::vector<TelemetryTarget>& targets);
  void read_processes(const std::vector<TelemetryTarget>& targets, std::vector<Reading>& readings);
  void read_switches(const std::vector<TelemetryTarget>& targets, std::vector<Reading>& readings);
  void read_machine(std::vector<Reading>& readings);
  void read_gpus(const std::vector<TelemetryTarget>& targets, std::vector<Reading>& readings);
  void read_counters(const std::vector<TelemetryTarget>& targets, std::vector<Reading>& readings);

  template <class Action>
  void paced(Pace& pace, double now_s, const Action& action);

  ProcFile stat_{"/proc/stat"};
  ProcFile meminfo_{"/proc/meminfo"};
  ProcFile memory_pressure_{"/proc/pressure/memory"};
  ProcFile io_pressure_{"/proc/pressure/io"};
  PackageEnergy package_energy_;
  std::optional<Nvml> nvml_;  ///< opened for the first attempt with GPUs
  ProcessTrees trees_;
  std::map<std::string, pid_t> followed_;
  Pace processes_pace_;
  Pace switches_pace_;
  Pace machine_pace_;
  Pace counters_pace_;
};

}  // namespace doetune::runner
