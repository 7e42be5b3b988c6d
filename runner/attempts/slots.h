// The machine, or several, shared out among the runs at once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

/// Where runs can be placed: this machine, another host, a scheduler's queue.
struct HostCapacity {
  std::string host;                 ///< empty: whoever launches knows
  int jobs = 1;                     ///< runs at once
  std::vector<std::string> gpus;    ///< as CUDA_VISIBLE_DEVICES names them; of the host alone
  std::vector<int> cpus;            ///< dealt out in equal contiguous parts; empty: not bound
  bool assigns_gpus = true;         ///< false: a scheduler does
  int runs_per_gpu = 1;             ///< that share a GPU; 1: it is a run's own
  std::optional<int> cpus_per_run;  ///< instead of equal parts
};

/// The part of a host that one of the runs at once has to itself.
struct Slot {
  std::string host;
  std::vector<std::string> gpus;  ///< as CUDA_VISIBLE_DEVICES names them
  std::vector<int> cpus;          ///< its program is bound to them; empty: not bound
  std::size_t host_index = 0;
  int index = 0;           ///< of the host, below its `jobs`
  bool scheduled = false;  ///< a scheduler assigns its GPUs
};

/// Deals out slots: a run waits until there is one. Where there are fewer processors than jobs, all
/// jobs share all of them.
class SlotPool {
 public:
  /// Throws RunError for a place without room, or with more runs of `cpus_per_run` at once than it
  /// has processors.
  explicit SlotPool(std::vector<HostCapacity> capacities);

  /// Throws RunError where no place has so many GPUs, however many runs are waited for.
  void check(int gpus) const;

  /// A slot with so many GPUs, the first that is free; empty where a run must end first.
  std::optional<Slot> take(int gpus);

  /// The slot of an attempt that goes on from an earlier call, as far as it is still there.
  std::optional<Slot> take_again(const std::string& host, const std::vector<std::string>& gpus);

  void give_back(const Slot& slot);

  /// Gives out no further slots on this host.
  void close(const std::string& host);

  int jobs() const;  ///< runs at once

 private:
  struct State {
    HostCapacity capacity;
    std::vector<bool> taken;         ///< which are taken
    std::map<std::string, int> use;  ///< runs on each GPU
    bool closed = false;
  };

  std::optional<int> free_slot(const State& state) const;
  Slot slot_at(std::size_t host_index, int index, std::vector<std::string> gpus);
  std::vector<int> cpus_of(const HostCapacity& capacity, int index) const;

  std::vector<State> states_;
};

}  // namespace doetune::runner
