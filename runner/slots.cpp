#include "runner/slots.h"

#include <fmt/format.h>
#include <sched.h>

#include "runner/run_error.h"

namespace doetune::runner {

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::vector<Slot> share_out(int jobs, int gpus_per_run, std::vector<std::string> gpus,
                            const std::vector<int>& cpus) {
  if (jobs < 1) throw RunError(fmt::format("{} jobs: there must be one at least", jobs));
  const int needed = jobs * gpus_per_run;
  for (int gpu = 0; gpus.empty() && gpu < needed; ++gpu) gpus.push_back(fmt::format("{}", gpu));
  if (static_cast<int>(gpus.size()) < needed) {
    throw RunError(fmt::format("{} runs at once with {} GPUs each need {} GPUs; given are {}", jobs,
                               gpus_per_run, needed, gpus.size()));
  }
  const int cpus_each = static_cast<int>(cpus.size()) / jobs;
  std::vector<Slot> slots;
  for (int job = 0; job < jobs; ++job) {
    Slot slot;
    const auto gpu = gpus.begin() + job * gpus_per_run;
    slot.gpus.assign(gpu, gpu + gpus_per_run);
    const auto cpu = cpus.begin() + job * cpus_each;  // 0 each: all of them
    slot.cpus.assign(cpu, cpus_each > 0 ? cpu + cpus_each : cpus.end());
    slots.push_back(std::move(slot));
  }
  return slots;
}

}  // namespace doetune::runner
