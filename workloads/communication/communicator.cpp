#include "workloads/communication/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "workloads/communication/mpi/mpi_library.h"
#include "workloads/communication/nccl/nccl_library.h"
#include "workloads/communication/ring.h"

namespace doetune::workloads {
namespace {

std::unique_ptr<Communicator> shared_memory_ring(Group& group) {
  return make_ring(group, shared_memory_links(group), "shm");
}

std::unique_ptr<Communicator> tcp_ring(Group& group) {
  return make_ring(group, tcp_links(group), "tcp");
}

constexpr TransportType kTransportTypes[] = {
    {"shm", shared_memory_ring},
    {"tcp", tcp_ring},
    {"nccl", nccl_communicator},
    {"mpi", mpi_communicator},
};

/// Values broadcast at a time (16 MiB), which bounds a transport's staging memory.
constexpr std::size_t kPiece = 1 << 22;

/// Whether all ranks sent this text.
bool all_say(const std::string& text, const std::vector<std::string>& all) {
  return std::ranges::count(all, text) == std::ssize(all);
}

/// The transport for "auto". All ranks call it.
std::string_view chosen_transport(Group& group, bool gpus) {
  if (all_say("nccl", group.gather(gpus && has_nccl() ? "nccl" : "none"))) return "nccl";
  return all_say(group.host(), group.gather(group.host())) ? "shm" : "tcp";
}

}  // namespace

CommunicationType communication_type_named(std::string_view name) {
  if (name == "fp32") return CommunicationType::fp32;
  if (name == "bf16") return CommunicationType::bf16;
  throw std::invalid_argument(fmt::format("communication type fp32 or bf16, not '{}'", name));
}

int bytes_of(CommunicationType type) { return type == CommunicationType::fp32 ? 4 : 2; }

void Communicator::broadcast(std::span<float> values, int root) {
  if (rank() != root) std::ranges::fill(values, 0.0F);
  for (std::size_t at = 0; at < values.size(); at += kPiece)
    all_reduce(values.subspan(at, std::min(kPiece, values.size() - at)));
}

bool Communicator::agree(bool yes) {
  std::array<float, 1> vote{rank() == 0 && yes ? 1.0F : 0.0F};
  all_reduce(vote);
  return vote[0] != 0;
}

std::vector<float> Communicator::gather(float mine) {
  std::vector<float> all(size(), 0.0F);
  all[rank()] = mine;
  all_reduce(all);
  return all;
}

void Communicator::check_neighbour(int other) const {
  if (other < 0 || other >= size() || std::abs(other - rank()) != 1)
    throw std::invalid_argument(
        fmt::format("{} is not next to {}", rank_name(other, size()), rank_name(rank(), size())));
}

Values Communicator::allocate(std::size_t count) {
  const auto values = std::make_shared<std::vector<float>>(count);
  return {*values, values};
}

std::span<const TransportType> transport_types() { return kTransportTypes; }

std::unique_ptr<Communicator> make_communicator(std::string_view transport, Group& group,
                                                bool gpus) {
  if (transport == "auto") transport = chosen_transport(group, gpus);
  const auto type = std::ranges::find(transport_types(), transport, &TransportType::name);
  if (type == transport_types().end())
    throw std::invalid_argument(fmt::format("there is no transport '{}'", transport));
  auto communicator = type->make(group);
  group.watch();
  return communicator;
}

void in_group(Group& group, std::string_view transport, bool gpus,
              const std::function<void(Communicator&)>& work) {
  const auto report = [&](const std::exception& error, int code) {
    group.fail(rank_name(group.rank(), group.size()) + ": " + error.what(), code);
  };
  try {
    const auto communicator = make_communicator(transport, group, gpus);
    work(*communicator);
  } catch (const UsageError& error) {
    report(error, kExitUsage);
    throw;
  } catch (const Infeasible& error) {
    report(error, kExitInfeasible);
    throw;
  } catch (const std::bad_alloc& error) {
    report(error, kExitInfeasible);
    throw;
  } catch (const std::exception& error) {
    report(error, kExitFailed);
    throw;
  }
}

}  // namespace doetune::workloads
