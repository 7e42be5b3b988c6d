// Sums over processes, which go on while the caller works.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "workloads/communication/group.h"

namespace doetune::workloads {

/// In what numbers are sent. bf16 halves the bytes; every rank's values and every partial sum on
/// the way are rounded to it, each with a relative error of at most 2^-9.
enum class CommunicationType { fp32, bf16 };
CommunicationType communication_type_named(std::string_view name);
int bytes_of(CommunicationType type);

/// Floats where a transport reads them best.
struct Values {
  std::span<float> span;
  std::shared_ptr<void> owner;
};

/// Used by one thread. All ranks start the same operations in the same order.
///
/// Sums are worked out in the same order on every run with the same ranks and sizes, and are
/// bitwise the same on all ranks.
class Communicator {
 public:
  explicit Communicator(Group& group) : group_(group) {}
  virtual ~Communicator() = default;

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  int local_rank() const { return group_.local_rank(); }

  using Ticket = std::int64_t;

  /// Begins to replace `values` by sum over ranks of weight x values. They must stay, untouched,
  /// until the ticket was waited for.
  virtual Ticket start_all_reduce(std::span<float> values, CommunicationType type,
                                  float weight = 1) = 0;

  /// Returns when this operation and those before it are done. Throws what Group::check does when a
  /// rank has ended.
  virtual void wait(Ticket ticket) = 0;

  void all_reduce(std::span<float> values, CommunicationType type = CommunicationType::fp32) {
    wait(start_all_reduce(values, type));
  }

  /// Sends to the rank next to this one, above or below; what it sends there arrives in that order.
  /// The values are copied, so this does not wait. Throws std::invalid_argument for another rank.
  virtual void send(std::span<const float> values, int to, CommunicationType type) = 0;

  /// What arrives from there, as many values as were sent. get() waits for them, and throws as
  /// wait() does.
  virtual std::future<std::vector<float>> receive(std::size_t count, int from,
                                                  CommunicationType type) = 0;

  /// All get the root's values.
  void broadcast(std::span<float> values, int root = 0);

  /// Returns when all ranks have called it; whether rank 0 said `yes`.
  bool agree(bool yes);
  void barrier() { agree(true); }

  /// Each rank's number, by rank.
  std::vector<float> gather(float mine);

  /// Zeros; for nccl they are in the GPU's memory, and the CPU must not touch them.
  virtual Values allocate(std::size_t count);

  /// Whether sums of values in a GPU's memory are formed there.
  virtual bool on_gpus() const { return false; }

  /// The transport in words, for the notes of a run.
  virtual std::string_view name() const = 0;

 protected:
  void check_neighbour(int other) const;

  Group& group_;
};

/// The ways between processes: "shm", a ring over shared memory of one machine; "tcp", a ring over
/// TCP; "nccl", NVIDIA's library between GPUs, one process each.
struct TransportType {
  std::string_view name;
  /// All ranks call it at the same time. Throws std::runtime_error, or Infeasible where the ranks
  /// cannot reach each other in this way.
  std::unique_ptr<Communicator> (*make)(Group& group);
};
std::span<const TransportType> transport_types();

/// Also for "auto": nccl where `gpus` says so and all ranks have it, shm where all ranks are on one
/// machine, else tcp. Begins the group's watch.
std::unique_ptr<Communicator> make_communicator(std::string_view transport, Group& group,
                                                bool gpus = false);

/// Runs `work` on a communicator of the group; what it throws is told to the other ranks, which
/// throw the same.
void in_group(Group& group, std::string_view transport, bool gpus,
              const std::function<void(Communicator&)>& work);

}  // namespace doetune::workloads
