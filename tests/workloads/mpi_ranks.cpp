// Started by mpirun: what MPI's communicator promises, on the number of ranks there are.
//
//   mpi_ranks sums         everything that ends well; prints the sums' bits, for comparison
//   mpi_ranks throw RANK   that rank throws Infeasible in mid-work
//   mpi_ranks die RANK     that rank kills itself
//   mpi_ranks step         rank 1 sends other than rank 0 expects
//   mpi_ranks version RANK that rank has another version of MPI
#include <fmt/format.h>
#include <signal.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <stdexcept>

#include "base/hash.h"
#include "base/random.h"
#include "workloads/communication/bfloat16.h"
#include "workloads/communication/communicator.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

using Floats = std::vector<float>;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("not so: " + what);
}

Floats values_of(int rank, std::size_t count, std::uint64_t seed = 7) {
  Floats values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = random_unit(seed + static_cast<std::uint64_t>(rank), i) - 0.5F;
  return values;
}

float hash_of(const Floats& values) {
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  return static_cast<float>(fnv1a_32({bytes, values.size() * sizeof(float)}) >> 8);
}

/// Every rounding is of a number below ranks / 2: by 2^-24 of it in fp32, 2^-9 in bf16.
void sums(Communicator& all) {
  for (const auto type : {CommunicationType::fp32, CommunicationType::bf16})
    for (const std::size_t count : {1UL, 5UL, 1000UL, 300'001UL}) {
      Floats values = values_of(all.rank(), count);
      all.all_reduce(values, type);
      const double n = all.size();
      const double unit = type == CommunicationType::fp32 ? 0x1p-24 : 0x1p-9;
      for (std::size_t i = 0; i < count; ++i) {
        double exact = 0;
        for (int rank = 0; rank < all.size(); ++rank)
          exact += static_cast<double>(random_unit(7 + static_cast<std::uint64_t>(rank), i) - 0.5F);
        require(std::abs(static_cast<double>(values[i]) - exact) <= n * unit * n / 2 + 1e-7,
                fmt::format("the sum of {} values", count));
        if (type == CommunicationType::bf16)
          require(from_bfloat16(to_bfloat16(values[i])) == values[i], "a sum in bf16 is of bf16");
      }
      const Floats hashes = all.gather(hash_of(values));
      for (const float hash : hashes) require(hash == hashes[0], "the same bits on all ranks");
      if (all.rank() == 0) std::cout << fmt::format("{} {:.0f}\n", count, hashes[0]);
    }
}

void several_under_way(Communicator& all) {
  std::vector<Floats> each;
  std::vector<Communicator::Ticket> tickets;
  for (int k = 0; k < 20; ++k)
    each.emplace_back(std::size_t{1} << (k % 14), static_cast<float>(k + all.rank()));
  for (Floats& values : each)
    tickets.push_back(all.start_all_reduce(values, CommunicationType::fp32, 2));
  const auto n = static_cast<float>(all.size());
  for (int k = 19; k >= 0; --k) {
    all.wait(tickets[k]);
    for (const float value : each[k])
      require(value == 2 * (n * static_cast<float>(k) + n * (n - 1) / 2), "several sums");
  }
}

void of_all_ranks(Communicator& all) {
  const auto rank = static_cast<float>(all.rank());
  const int last = all.size() - 1;
  Floats many((std::size_t{1} << 22) + 3, rank);  // sent in several pieces
  all.broadcast(many, last);
  require(many == Floats(many.size(), static_cast<float>(last)), "broadcast");
  const Floats gathered = all.gather(10 + rank);
  for (int r = 0; r < all.size(); ++r) require(gathered[r] == static_cast<float>(10 + r), "gather");
  require(all.agree(all.rank() == 0) && !all.agree(all.rank() != 0), "agreement");
  require(all.local_rank() == all.rank(), "all are on this machine");
}

/// All send first, more than can be under way at once, then sum, then receive.
void messages(Communicator& all) {
  constexpr std::size_t kMany = 700'000;
  const auto exchanged = [&](const std::function<void(int)>& with) {
    for (const int other : {all.rank() - 1, all.rank() + 1})
      if (other >= 0 && other < all.size()) with(other);
  };
  for (const auto type : {CommunicationType::fp32, CommunicationType::bf16}) {
    exchanged([&](int other) {
      for (int k = 0; k < 3; ++k)
        all.send(values_of(all.rank(), kMany >> (4 * k), 50 + k), other, type);
    });
    all.barrier();
    exchanged([&](int other) {
      for (int k = 0; k < 3; ++k) {
        Floats expected = values_of(other, kMany >> (4 * k), 50 + k);
        if (type == CommunicationType::bf16)
          for (float& value : expected) value = from_bfloat16(to_bfloat16(value));
        require(all.receive(expected.size(), other, type).get() == expected, "a message");
      }
    });
  }
  for (const int other : {-1, all.rank(), all.rank() + 2}) try {
      all.send(Floats(4), other, CommunicationType::fp32);
      require(false, "ranks send to their neighbours alone");
    } catch (const std::invalid_argument&) {
    }
}

void out_of_step(Communicator& all) {
  if (all.rank() == 1) all.send(Floats(5), 0, CommunicationType::fp32);
  if (all.rank() == 0) all.receive(6, 1, CommunicationType::fp32).get();
  all.barrier();
}

void run(Communicator& all, const std::string& what, int guilty) {
  if (what == "step") return out_of_step(all);
  if (what == "sums") {
    sums(all);
    several_under_way(all);
    of_all_ranks(all);
    return messages(all);
  }
  all.barrier();
  if (all.rank() == guilty && what == "throw") throw Infeasible("no memory left");
  if (all.rank() == guilty && what == "die") raise(SIGKILL);
  for (;;) all.barrier();
}

}  // namespace
}  // namespace doetune::workloads

namespace {
int other_version_of = -1;  // rank
}

/// In place of MPI's own, as that of a program comes first.
extern "C" int MPI_Get_library_version(char* words, int* length) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool other = rank != nullptr && std::atoi(rank) == other_version_of;
  std::strcpy(words, other ? "Open MPI v5.0.3, package: another" : "Open MPI v4.1.4, package: one");
  *length = static_cast<int>(std::strlen(words));
  return 0;
}

int main(int count, char** arguments) try {
  using namespace doetune::workloads;
  if (count > 2 && std::string(arguments[1]) == "version")
    other_version_of = std::atoi(arguments[2]);
  in_ranks("mpi", false, [&](Communicator& all) {
    run(all, arguments[1], count > 2 ? std::atoi(arguments[2]) : -1);
  });
  return 0;
} catch (const doetune::workloads::Infeasible& error) {
  std::cerr << error.what() << '\n';
  return doetune::workloads::kExitInfeasible;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
