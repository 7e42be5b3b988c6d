// Asynchronous sums and messages between processes.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::workloads {

/// The format in which values are sent. bf16 halves the bytes; every rank's values and every
/// partial sum on the way are rounded to it, each with a relative error of at most 2^-9.
enum class CommunicationType { fp32, bf16 };
CommunicationType communication_type_named(std::string_view name);
int bytes_of(CommunicationType type);

/// Floats in the memory that a transport reads fastest.
struct Values {
  std::span<float> span;
  std::shared_ptr<void> owner;
};

/// The maximum number of ranks.
inline constexpr int kMaxRanks = 4096;

/// A process among those that work together.
struct Rank {
  int rank = 0;        // 0 .. size - 1
  int size = 1;        // number of processes
  int local_rank = 0;  // among the ranks on this machine; selects its GPU
};

/// "rank 1 of 4".
std::string rank_name(int rank, int ranks);

/// Used by one thread. All ranks start the same operations in the same order.
///
/// Sums are formed in the same order on every run with the same ranks and sizes, and are bitwise
/// equal on all ranks.
class Communicator {
 public:
  explicit Communicator(Rank place) : place_(place) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  int local_rank() const { return place_.local_rank; }

  using Ticket = std::int64_t;

  /// Starts to replace `values` by the sum over ranks of weight x values. The caller must neither
  /// free nor touch them before it has waited for the ticket.
  virtual Ticket start_all_reduce(std::span<float> values, CommunicationType type,
                                  float weight = 1) = 0;

  /// Returns when this operation and those before it are done. Throws std::runtime_error.
  virtual void wait(Ticket ticket) = 0;

  void all_reduce(std::span<float> values, CommunicationType type = CommunicationType::fp32) {
    wait(start_all_reduce(values, type));
  }

  /// Sends to a neighbouring rank, above or below; messages to one rank arrive in order. The values
  /// are copied, so this does not wait. Throws std::invalid_argument for another rank.
  virtual void send(std::span<const float> values, int to, CommunicationType type) = 0;

  /// The next message from that rank; `count` is the number of values sent. get() waits for them,
  /// and throws as wait() does.
  virtual std::future<std::vector<float>> receive(std::size_t count, int from,
                                                  CommunicationType type) = 0;

  /// Replaces every rank's values by the root's.
  void broadcast(std::span<float> values, int root = 0);

  /// Returns when all ranks have called it: whether rank 0 said `yes`.
  bool agree(bool yes);
  void barrier() { agree(true); }

  /// The values of all ranks, in order of rank.
  std::vector<float> gather(float mine);

  /// Zeros. For nccl they are in GPU memory, which the CPU must not touch.
  virtual Values allocate(std::size_t count);

  /// Whether values in GPU memory are summed there.
  virtual bool on_gpus() const { return false; }

  /// The transport's name, for the notes of a run.
  virtual std::string_view name() const = 0;

  /// Ends all processes with this exit code; returns where there are no others.
  virtual void end_all(int exit_code) const = 0;

 protected:
  void check_neighbour(int other) const;

 private:
  Rank place_;
};

/// A process by itself, without other ranks.
std::unique_ptr<Communicator> alone(int local_rank = 0);

/// The number of processes that mpirun or srun started together with this one, from their
/// variables: OMPI_COMM_WORLD_SIZE, or SLURM_STEP_NUM_TASKS above 1 (a job of one task is no
/// group). Empty where it was started by itself. Throws UsageError for an invalid value.
std::optional<int> started_ranks();

/// The transports: "mpi", and "nccl", NVIDIA's library, one process per GPU. "auto" is nccl where
/// `gpus` is true and all ranks have it, else mpi. One process by itself needs no MPI.
///
/// Runs `work` on all processes that were started. A rank that throws prints why, with its name,
/// and ends all: with exit code 2 for UsageError, 77 for Infeasible or want of memory, else 1.
void in_ranks(std::string_view transport, bool gpus,
              const std::function<void(Communicator&)>& work);

}  // namespace doetune::workloads
