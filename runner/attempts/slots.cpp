#include "runner/attempts/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runner/processes/run_error.h"

namespace doetune::runner {

SlotPool::SlotPool(std::vector<HostCapacity> capacities) {
  for (HostCapacity& capacity : capacities) {
    if (capacity.jobs < 1) {
      throw RunError(fmt::format("{} jobs: at least one is needed", capacity.jobs));
    }
    const int wanted = capacity.cpus_per_run.value_or(0) * capacity.jobs;
    if (!capacity.cpus.empty() && wanted > static_cast<int>(capacity.cpus.size())) {
      throw RunError(
          fmt::format("run.jobs {} times run.cpus_per_run {} is {} processors, but there are {}",
                      capacity.jobs, *capacity.cpus_per_run, wanted, capacity.cpus.size()),
          "run.cpus_per_run");
    }
    for (const std::string& gpu : capacity.gpus) {
      if (gpu.empty()) throw RunError("a GPU without a name is given");
      if (std::count(capacity.gpus.begin(), capacity.gpus.end(), gpu) > 1) {
        throw RunError(fmt::format("GPU {} is given twice", gpu));
      }
    }
    State state{std::move(capacity), {}, {}, false};
    state.taken.assign(static_cast<std::size_t>(state.capacity.jobs), false);
    for (const std::string& gpu : state.capacity.gpus) state.use[gpu] = 0;
    states_.push_back(std::move(state));
  }
  if (states_.empty()) throw RunError("there is no slot to run anything");
}

void SlotPool::check(int gpus) const {
  std::size_t max_gpus = 0;
  for (const State& state : states_) {
    if (!state.capacity.assigns_gpus) return;
    max_gpus = std::max(max_gpus, state.capacity.gpus.size());
  }
  if (static_cast<int>(max_gpus) < gpus) {
    throw RunError(fmt::format("a run needs {} GPUs, but there are {}", gpus, max_gpus),
                   "run.gpus_per_run");
  }
}

std::optional<Slot> SlotPool::take(int gpus) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    const auto index = free_slot(state);
    if (!index) continue;
    std::vector<std::string> chosen;
    for (const std::string& gpu : state.capacity.gpus) {
      if (static_cast<int>(chosen.size()) == gpus) break;
      if (state.use.at(gpu) < state.capacity.runs_per_gpu) chosen.push_back(gpu);
    }
    if (state.capacity.assigns_gpus && static_cast<int>(chosen.size()) < gpus) continue;
    return slot_at(i, *index, std::move(chosen));
  }
  return std::nullopt;
}

std::optional<Slot> SlotPool::take_again(const std::string& host,
                                         const std::vector<std::string>& gpus) {
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (states_[i].capacity.host != host) continue;
    if (const auto index = free_slot(states_[i])) return slot_at(i, *index, gpus);
  }
  return std::nullopt;
}

void SlotPool::give_back(const Slot& slot) {
  State& state = states_.at(slot.host_index);
  state.taken.at(static_cast<std::size_t>(slot.index)) = false;
  for (const std::string& gpu : slot.gpus) --state.use[gpu];
}

void SlotPool::close(const std::string& host) {
  for (State& state : states_) state.closed = state.closed || state.capacity.host == host;
}

int SlotPool::jobs() const {
  return std::accumulate(states_.begin(), states_.end(), 0,
                         [](int sum, const State& state) { return sum + state.capacity.jobs; });
}

std::optional<int> SlotPool::free_slot(const State& state) const {
  if (state.closed) return std::nullopt;
  const auto index = std::find(state.taken.begin(), state.taken.end(), false);
  if (index == state.taken.end()) return std::nullopt;
  return static_cast<int>(index - state.taken.begin());
}

Slot SlotPool::slot_at(std::size_t host_index, int index, std::vector<std::string> gpus) {
  State& state = states_[host_index];
  state.taken[static_cast<std::size_t>(index)] = true;
  for (const std::string& gpu : gpus) ++state.use[gpu];
  return {state.capacity.host, std::move(gpus), cpus_of(state.capacity, index),
          host_index,          index,           !state.capacity.assigns_gpus};
}

std::vector<int> SlotPool::cpus_of(const HostCapacity& capacity, int index) const {
  const int each =
      capacity.cpus_per_run.value_or(static_cast<int>(capacity.cpus.size()) / capacity.jobs);
  if (each == 0 || capacity.cpus.empty()) return capacity.cpus;
  const auto first = capacity.cpus.begin() + index * each;
  return {first, first + each};
}

}  // namespace doetune::runner
