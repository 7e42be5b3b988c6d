// Asynchronous sums and messages between processes.
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

/// Used by one thread. All ranks start the same operations in the same order.
///
/// Sums are formed in the same order on every run with the same ranks and sizes, and are bitwise
/// equal on all ranks.
class Communicator {
 public:
  explicit Communicator(Group& group) : group_(group) {}
  virtual ~Communicator() = default;

  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }
  int local_rank() const { return group_.local_rank(); }

  using Ticket = std::int64_t;

  /// Starts to replace `values` by the sum over ranks of weight x values. The caller must neither
  /// free nor touch them before it has waited for the ticket.
  virtual Ticket start_all_reduce(std::span<float> values, CommunicationType type,
                                  float weight = 1) = 0;

  /// Returns when this operation and those before it are done. Throws what Group::check does when a
  /// rank has ended.
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

 protected:
  void check_neighbour(int other) const;

  Group& group_;
};

/// The transports: "shm", a ring over shared memory of one machine; "tcp", a ring over TCP; "nccl",
/// NVIDIA's library, one process per GPU.
struct TransportType {
  std::string_view name;
  /// All ranks call it at the same time. Throws std::runtime_error, or Infeasible where the ranks
  /// cannot reach each other by this transport.
  std::unique_ptr<Communicator> (*make)(Group& group);
};
std::span<const TransportType> transport_types();

/// Accepts "auto" too: nccl where `gpus` is true and all ranks have it, shm where all ranks are on
/// one machine, else tcp. Starts the group's watch.
std::unique_ptr<Communicator> make_communicator(std::string_view transport, Group& group,
                                                bool gpus = false);

/// Runs `work` on a communicator of the group. An exception is reported to the other ranks, which
/// throw it too.
void in_group(Group& group, std::string_view transport, bool gpus,
              const std::function<void(Communicator&)>& work);

}  // namespace doetune::workloads
