#include "workloads/communication/communicator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iostream>

#include "workloads/communication/bfloat16.h"
#include "workloads/communication/mpi/mpi_library.h"
#include "workloads/communication/nccl/nccl_library.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

/// Values broadcast at a time (16 MiB), which bounds a transport's staging memory.
constexpr std::size_t kPiece = 1 << 22;

class Alone final : public Communicator {
 public:
  using Communicator::Communicator;

  Ticket start_all_reduce(std::span<float> values, CommunicationType type, float weight) override {
    for (float& value : values) value *= weight;
    if (type == CommunicationType::bf16)
      for (float& value : values) value = from_bfloat16(to_bfloat16(value));
    return 0;
  }
  void wait(Ticket) override {}
  void send(std::span<const float>, int to, CommunicationType) override { check_neighbour(to); }
  std::future<std::vector<float>> receive(std::size_t, int from, CommunicationType) override {
    check_neighbour(from);
    return {};
  }
  std::string_view name() const override { return "none"; }
  void end_all(int) const override {}
};

bool takes_nccl(std::string_view transport, bool gpus, Communicator& processes) {
  if (transport != "auto") return transport == "nccl";
  const auto have = processes.gather(gpus && has_nccl() ? 1.0F : 0.0F);
  return std::ranges::count(have, 1.0F) == std::ssize(have);
}

}  // namespace

CommunicationType communication_type_named(std::string_view name) {
  if (name == "fp32") return CommunicationType::fp32;
  if (name == "bf16") return CommunicationType::bf16;
  throw std::invalid_argument(fmt::format("communication type fp32 or bf16, not '{}'", name));
}

int bytes_of(CommunicationType type) { return type == CommunicationType::fp32 ? 4 : 2; }

std::string rank_name(int rank, int ranks) { return fmt::format("rank {} of {}", rank, ranks); }

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

std::unique_ptr<Communicator> alone(int local_rank) {
  return std::make_unique<Alone>(Rank{.local_rank = local_rank});
}

std::optional<int> started_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* value = std::getenv(name);
    const std::string_view text = value == nullptr ? "" : value;
    if (text.empty()) continue;
    int ranks = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ranks);
    if (error != std::errc() || end != text.data() + text.size() || ranks < 1 || ranks > kMaxRanks)
      throw UsageError(
          fmt::format("{} must be an integer from 1 to {}, not '{}'", name, kMaxRanks, text));
    if (ranks > 1 || text.data() == std::getenv("OMPI_COMM_WORLD_SIZE")) return ranks;
  }
  return std::nullopt;
}

void in_ranks(std::string_view transport, bool gpus,
              const std::function<void(Communicator&)>& work) {
  const int ranks = started_ranks().value_or(1);
  const auto processes = ranks == 1 ? alone() : mpi_communicator(ranks);
  const auto end = [&](const char* why, int code) {
    if (ranks == 1) return;
    std::cerr << rank_name(processes->rank(), ranks) + ": " + why + "\n" << std::flush;
    processes->end_all(code);
  };
  try {
    if (takes_nccl(transport, gpus, *processes))
      work(*nccl_communicator(*processes));
    else
      work(*processes);
  } catch (const UsageError& error) {
    end(error.what(), kExitUsage);
    throw;
  } catch (const Infeasible& error) {
    end(error.what(), kExitInfeasible);
    throw;
  } catch (const std::bad_alloc&) {
    end("not enough memory for these settings", kExitInfeasible);
    throw;
  } catch (const std::exception& error) {
    end(error.what(), kExitFailed);
    throw;
  }
}

}  // namespace doetune::workloads
