#include "workloads/processes/cpus.h"

#include <sched.h>

#include <algorithm>

#include "base/host.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

std::vector<int> assigned_cpus(const std::vector<int>& assigned) {
  std::vector<int> cpus = usable_cpus();
  std::erase_if(cpus, [&](int cpu) {
    return !assigned.empty() && std::ranges::find(assigned, cpu) == assigned.end();
  });
  if (cpus.empty()) throw UsageError("this process may use none of its assigned CPUs");
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
