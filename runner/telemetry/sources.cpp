#include "runner/telemetry/sources.h"

#include <algorithm>
#include <ctime>

#include "base/clock.h"

namespace doetune::runner {
namespace {

/// Processor time of this thread.
double thread_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

template <class Action>
void Sources::paced(Pace& pace, double now_s, const Action& action) {
  if (!pace.due(now_s)) return;
  const double began_s = thread_cpu_s();
  action();
  pace.took(now_s, thread_cpu_s() - began_s);
}

std::vector<Reading> Sources::read(const std::vector<TelemetryTarget>& targets) {
  const bool any_gpu = std::any_of(targets.begin(), targets.end(),
                                   [](const auto& target) { return !target.gpus.empty(); });
  if (any_gpu && !nvml_) nvml_.emplace();  // slow, so done before the time is read
  follow(targets);
  const double now_s = monotonic_s();
  std::vector<Reading> readings(targets.size());
  const std::string_view stat = stat_.read();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    readings[i].time_s = now_s;
    readings[i].cpu = cpu_times(stat, targets[i].cpus);
    readings[i].gpus.resize(targets[i].gpus.size());
  }
  if (any_gpu) read_gpus(targets, readings);
  paced(processes_pace_, now_s, [&] { read_processes(targets, readings); });
  paced(switches_pace_, now_s, [&] { read_switches(targets, readings); });
  paced(machine_pace_, now_s, [&] { read_machine(readings); });
  if (any_gpu) paced(counters_pace_, now_s, [&] { read_counters(targets, readings); });
  return readings;
}

/// Tracks the process trees of exactly these attempts; new ones are read at once.
void Sources::follow(const std::vector<TelemetryTarget>& targets) {
  for (auto followed = followed_.begin(); followed != followed_.end();) {
    const bool goes_on = std::any_of(targets.begin(), targets.end(), [&](const auto& target) {
      return target.attempt == followed->first && target.leader == followed->second;
    });
    if (!goes_on) trees_.remove(followed->first);
    followed = goes_on ? std::next(followed) : followed_.erase(followed);
  }
  for (const TelemetryTarget& target : targets) {
    if (!followed_.emplace(target.attempt, target.leader).second) continue;
    trees_.add(target.attempt, target.leader, target.server);
    for (Pace* pace : {&processes_pace_, &switches_pace_, &machine_pace_, &counters_pace_}) {
      pace->at_once();
    }
  }
}

void Sources::read_processes(const std::vector<TelemetryTarget>& targets,
                             std::vector<Reading>& readings) {
  trees_.search();
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const ProcessUse use = trees_.use(targets[i].attempt);
    HostSample& host = readings[i].host;
    host.processes = use.processes;
    host.process_cpu_s = use.cpu_s;
    host.resident_bytes = use.resident_bytes;
    host.major_faults = use.major_faults;
    host.read_bytes = use.read_bytes;
    host.written_bytes = use.written_bytes;
  }
}

void Sources::read_switches(const std::vector<TelemetryTarget>& targets,
                            std::vector<Reading>& readings) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const ContextSwitches switches = trees_.context_switches(targets[i].attempt);
    readings[i].host.voluntary_switches = switches.voluntary;
    readings[i].host.involuntary_switches = switches.involuntary;
  }
}

void Sources::read_machine(std::vector<Reading>& readings) {
  const std::string_view meminfo = meminfo_.read();
  const auto available = meminfo_bytes(meminfo, "MemAvailable");
  const auto swap = meminfo_bytes(meminfo, "SwapTotal");
  const auto unused = meminfo_bytes(meminfo, "SwapFree");
  const auto memory_stall_s = stalled_s(memory_pressure_.read());
  const auto io_stall_s = stalled_s(io_pressure_.read());
  const auto energy_j = package_energy_.read_j();
  for (Reading& reading : readings) {
    reading.host.memory_available_bytes = available;
    if (swap && unused) reading.host.swap_used_bytes = *swap - *unused;
    reading.host.memory_stall_s = memory_stall_s;
    reading.host.io_stall_s = io_stall_s;
    reading.host.package_energy_j = energy_j;
  }
}

void Sources::read_gpus(const std::vector<TelemetryTarget>& targets,
                        std::vector<Reading>& readings) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (std::size_t g = 0; g < targets[i].gpus.size(); ++g) {
      const Nvml::Device* device = nvml_->find(targets[i].gpus[g]);
      if (device == nullptr) continue;
      static_cast<GpuReading&>(readings[i].gpus[g]) = nvml_->read(*device);
    }
  }
}

void Sources::read_counters(const std::vector<TelemetryTarget>& targets,
                            std::vector<Reading>& readings) {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    for (std::size_t g = 0; g < targets[i].gpus.size(); ++g) {
      const Nvml::Device* device = nvml_->find(targets[i].gpus[g]);
      if (device == nullptr) continue;
      static_cast<GpuCounters&>(readings[i].gpus[g]) = nvml_->read_counters(*device);
    }
  }
}

}  // namespace doetune::runner
