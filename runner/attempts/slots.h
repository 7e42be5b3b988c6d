// Allocates the processors and GPUs of one or more hosts to concurrent runs.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace doetune::runner {

/// Capacity of an execution host: this machine, another host, or a scheduler's queue.
struct HostCapacity {
  std::string host;                 ///< empty: chosen by the launcher
  int jobs = 1;                     ///< concurrent runs
  std::vector<std::string> gpus;    ///< in CUDA_VISIBLE_DEVICES notation
  std::vector<int> cpus;            ///< split into equal contiguous parts; empty: not bound
  bool assigns_gpus = true;         ///< false if a scheduler assigns them
  int runs_per_gpu = 1;             ///< runs that share a GPU; 1: exclusive use
  std::optional<int> cpus_per_run;  ///< overrides equal parts
};

/// Where the runs of a whole plot reach the server that lives through it.
struct ServerAddress {
  std::string host;
  int port = 0;                          ///< a free one, if the server has been given it as {port}
  std::filesystem::path directory = {};  ///< of its attempt
};

/// The part of a host allocated to one of the concurrent runs.
struct Slot {
  std::string host;
  std::vector<std::string> gpus;  ///< in CUDA_VISIBLE_DEVICES notation
  std::vector<int> cpus;          ///< the program is bound to them; empty: not bound
  std::size_t host_index = 0;
  int index = 0;           ///< index on the host, below its `jobs`
  bool scheduled = false;  ///< a scheduler assigns the GPUs
  std::optional<ServerAddress> server =
      {};  ///< which holds the slot's GPUs, and uses its processors
};

/// Allocates slots; a run waits until one is free. If there are fewer processors than jobs, all
/// jobs share all processors.
class SlotPool {
 public:
  /// Throws RunError for a host without capacity, and if concurrent runs of `cpus_per_run` need
  /// more processors than it has.
  explicit SlotPool(std::vector<HostCapacity> capacities);

  /// Throws RunError if no host has this many GPUs in total.
  void check(int gpus) const;

  /// The first free slot with this many GPUs; empty if a run must end first.
  std::optional<Slot> take(int gpus);

  /// A slot for an attempt that continues from an earlier call, if one is still available.
  std::optional<Slot> take_again(const std::string& host, const std::vector<std::string>& gpus);

  void give_back(const Slot& slot);

  /// Allocates no further slots on this host.
  void close(const std::string& host);

  int jobs() const;  ///< concurrent runs

 private:
  struct State {
    HostCapacity capacity;
    std::vector<bool> taken;         ///< by slot index
    std::map<std::string, int> use;  ///< number of runs on each GPU
    bool closed = false;
  };

  std::optional<int> free_slot(const State& state) const;
  Slot slot_at(std::size_t host_index, int index, std::vector<std::string> gpus);
  std::vector<int> cpus_of(const HostCapacity& capacity, int index) const;

  std::vector<State> states_;
};

}  // namespace doetune::runner
