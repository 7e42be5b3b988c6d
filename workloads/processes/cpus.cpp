#include "workloads/processes/cpus.h"

#include <sched.h>

#include <algorithm>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

std::vector<int> usable_cpus(const std::vector<int>& assigned) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) &&
        (assigned.empty() || std::ranges::find(assigned, cpu) != assigned.end()))
      cpus.push_back(cpu);
  if (cpus.empty()) throw UsageError("none of the assigned CPUs may be used by this process");
  return cpus;
}

std::vector<int> cpus_of(const std::vector<int>& cpus, int index, int parts) {
  const std::size_t count = cpus.size();
  if (count < static_cast<std::size_t>(parts)) return cpus;
  return {cpus.begin() + count * index / parts, cpus.begin() + count * (index + 1) / parts};
}

void use_cpus(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace doetune::workloads
