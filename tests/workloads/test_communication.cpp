// Sums over processes: exact results, and equality across ranks, transports and runs.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/random.h"
#include "tests/workloads/gpu_or_skip.h"
#include "tests/workloads/ranks.h"
#include "workloads/communication/bfloat16.h"
#include "workloads/communication/nccl/nccl_library.h"

using namespace doetune;
using namespace doetune::workloads;
using test::run_ranks;

namespace {

/// The values of each rank.
std::vector<float> values_of(int rank, std::size_t count, std::uint64_t seed = 7) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = random_unit(seed + static_cast<std::uint64_t>(rank), i) - 0.5F;
  return values;
}

std::vector<double> exact_sum(int ranks, std::size_t count) {
  std::vector<double> sum(count, 0);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto values = values_of(rank, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += static_cast<double>(values[i]);
  }
  return sum;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// All ranks' results of one all-reduce.
std::vector<std::vector<float>> all_reduced(int ranks, std::string_view transport,
                                            std::size_t count, CommunicationType type) {
  std::vector<std::vector<float>> results(ranks);
  const auto thrown = run_ranks(ranks, transport, [&](Communicator& communicator) {
    auto values = values_of(communicator.rank(), count);
    communicator.all_reduce(values, type);
    results[communicator.rank()] = values;
  });
  for (const std::string& what : thrown) CHECK(what == "");
  return results;
}

}  // namespace

TEST_CASE("bfloat16 is the upper half of a float, rounded to nearest even", "[communication]") {
  CHECK(to_bfloat16(1.0F) == 0x3F80);
  CHECK(to_bfloat16(1.0F + 0x1p-8F) == 0x3F80);             // a tie, to even
  CHECK(to_bfloat16(1.0F + 0x1p-8F + 0x1p-20F) == 0x3F81);  // above the tie
  CHECK(to_bfloat16(1.0F + 0x1.8p-7F) == 0x3F82);           // a tie, to even, upwards
  CHECK(to_bfloat16(-INFINITY) == 0xFF80);
  CHECK(std::isnan(from_bfloat16(to_bfloat16(NAN))));
  CHECK(from_bfloat16(to_bfloat16(-0.0F)) == 0.0F);
  for (std::uint32_t bits = 0; bits < 0x7F80; ++bits)  // every finite one is preserved
    REQUIRE(to_bfloat16(from_bfloat16(static_cast<std::uint16_t>(bits))) == bits);
}

TEST_CASE("an all-reduce is the sum to rounding, bitwise the same on all ranks and runs",
          "[communication]") {
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  const auto ranks = GENERATE(1, 2, 3, 4);
  const auto count =
      GENERATE(std::size_t{1}, std::size_t{5}, std::size_t{1000}, std::size_t{300'001});
  CAPTURE(transport, ranks, count);
  const auto results = all_reduced(ranks, transport, count, CommunicationType::fp32);
  const auto exact = exact_sum(ranks, count);
  double error = 0;
  for (std::size_t i = 0; i < count; ++i)
    error = std::max(error, std::abs(static_cast<double>(results[0][i]) - exact[i]));
  CHECK(error <= (ranks - 1) * 0x1p-24 * ranks / 2);  // each addition rounds a sum below ranks / 2
  for (const auto& result : results) CHECK(same_bits(result, results[0]));
  CHECK(same_bits(all_reduced(ranks, transport, count, CommunicationType::fp32)[0], results[0]));
}

TEST_CASE("transports give the same bits", "[communication]") {
  for (const auto type : {CommunicationType::fp32, CommunicationType::bf16})
    CHECK(same_bits(all_reduced(3, "shm", 100'003, type)[0],
                    all_reduced(3, "tcp", 100'003, type)[0]));
}

TEST_CASE("NCCL with one rank gives what the other transports give", "[communication]") {
  if (skipped_without("cuda")) return;
  if (!has_nccl()) return skip_for_want_of_gpu("no NCCL in this build");
  for (const auto type : {CommunicationType::fp32, CommunicationType::bf16})
    CHECK(same_bits(all_reduced(1, "nccl", 100'003, type)[0],
                    all_reduced(1, "shm", 100'003, type)[0]));
}

TEST_CASE("bf16 sums are as near as one rounding a hop allows", "[communication]") {
  const auto ranks = GENERATE(1, 2, 4);
  const std::size_t count = 10'000;
  const auto results = all_reduced(ranks, "shm", count, CommunicationType::bf16);
  const auto exact = exact_sum(ranks, count);
  for (std::size_t i = 0; i < count; ++i)  // every rounding is of a number below ranks / 2
    REQUIRE(std::abs(static_cast<double>(results[0][i]) - exact[i]) <=
            ranks * 0x1p-9 * ranks / 2 + 1e-6);
  for (const auto& result : results) CHECK(same_bits(result, results[0]));
  for (const float value : results[0]) REQUIRE(from_bfloat16(to_bfloat16(value)) == value);
}

TEST_CASE("several sums under way are each their own", "[communication]") {
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  const auto thrown = run_ranks(3, transport, [](Communicator& communicator) {
    std::vector<std::vector<float>> all;
    std::vector<Communicator::Ticket> tickets;
    for (int k = 0; k < 20; ++k)
      all.emplace_back(std::size_t{1} << (k % 14), static_cast<float>(k + communicator.rank()));
    for (auto& values : all)
      tickets.push_back(communicator.start_all_reduce(values, CommunicationType::fp32, 2.0F));
    for (int k = 19; k >= 0; --k) {
      communicator.wait(tickets[k]);
      for (const float value : all[k])
        if (value != 2.0F * static_cast<float>(3 * k + 3)) throw std::runtime_error("wrong sum");
    }
  });
  for (const std::string& what : thrown) CHECK(what == "");
}

TEST_CASE("broadcast, gather and agreement are of all ranks", "[communication]") {
  const auto thrown = run_ranks(4, "shm", [](Communicator& communicator) {
    const auto rank = static_cast<float>(communicator.rank());
    std::vector<float> values{rank, -rank};
    communicator.broadcast(values, 2);
    if (values != std::vector<float>{2, -2}) throw std::runtime_error("broadcast");
    std::vector<float> many((std::size_t{1} << 22) + 3, rank);  // sent in several pieces
    communicator.broadcast(many, 3);
    if (many != std::vector<float>(many.size(), 3)) throw std::runtime_error("long broadcast");
    if (communicator.gather(10 + rank) != std::vector<float>{10, 11, 12, 13})
      throw std::runtime_error("gather");
    if (!communicator.agree(communicator.rank() == 0)) throw std::runtime_error("yes");
    if (communicator.agree(communicator.rank() != 0)) throw std::runtime_error("no");
  });
  for (const std::string& what : thrown) CHECK(what == "");
}

TEST_CASE("nobody passes a barrier before all are there", "[communication]") {
  std::atomic<int> there = 0;
  const auto thrown = run_ranks(3, "shm", [&](Communicator& communicator) {
    for (int round = 1; round <= 50; ++round) {
      ++there;
      communicator.barrier();
      if (there < 3 * round) throw std::runtime_error("passed too early");
      communicator.barrier();
    }
  });
  for (const std::string& what : thrown) CHECK(what == "");
}

TEST_CASE("what one rank throws ends the others with its name and words", "[communication]") {
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  for (int guilty = 0; guilty < 3; ++guilty) {
    const auto thrown = run_ranks(3, transport, [&](Communicator& communicator) {
      communicator.barrier();
      if (communicator.rank() == guilty) throw Infeasible("no memory left");
      communicator.barrier();
    });
    const std::string expected = rank_name(guilty, 3) + ": no memory left";
    for (int rank = 0; rank < 3; ++rank)
      CHECK(thrown[rank] == (rank == guilty ? "no memory left" : expected));
  }
}

TEST_CASE("ranks out of step are reported, not summed", "[communication]") {
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  const auto thrown = run_ranks(2, transport, [&](Communicator& communicator) {
    std::vector<float> values(communicator.rank() == 0 ? 100 : 50, 1.0F);
    communicator.all_reduce(values);
  });
  CHECK_THAT(thrown[0] + thrown[1], Catch::Contains("out of step"));
  CHECK_FALSE(thrown[0].empty());
  CHECK_FALSE(thrown[1].empty());
}

TEST_CASE("what neighbours send arrives whole and in order, however both begin",
          "[communication]") {
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  constexpr std::size_t kMany = 700'000;  // more than can be in flight at once
  const auto thrown = run_ranks(3, transport, [](Communicator& communicator) {
    const int rank = communicator.rank();
    const auto type = CommunicationType::fp32;
    std::vector<int> neighbours;
    for (const int other : {rank - 1, rank + 1})
      if (other >= 0 && other < 3) neighbours.push_back(other);
    for (const int other : neighbours)  // all send first
      for (int k = 0; k < 3; ++k)
        communicator.send(values_of(rank, kMany >> (4 * k), 50 + k), other, type);
    communicator.barrier();  // sums are independent of messages
    for (const int other : neighbours)
      for (int k = 0; k < 3; ++k)
        if (communicator.receive(kMany >> (4 * k), other, type).get() !=
            values_of(other, kMany >> (4 * k), 50 + k))
          throw std::runtime_error("other values");
    communicator.barrier();
  });
  for (const std::string& what : thrown) CHECK(what == "");
}

TEST_CASE("what is sent in bf16 arrives rounded to it", "[communication]") {
  const auto thrown = run_ranks(2, "shm", [](Communicator& communicator) {
    auto values = values_of(0, 1000);
    if (communicator.rank() == 0) communicator.send(values, 1, CommunicationType::bf16);
    if (communicator.rank() == 1) {
      for (float& value : values) value = from_bfloat16(to_bfloat16(value));
      if (communicator.receive(1000, 0, CommunicationType::bf16).get() != values)
        throw std::runtime_error("not rounded");
    }
    communicator.barrier();
  });
  for (const std::string& what : thrown) CHECK(what == "");
}

TEST_CASE("ranks send to their neighbours alone", "[communication]") {
  for (const int other : {-1, 0, 2, 3}) {
    const auto thrown = run_ranks(3, "shm", [&](Communicator& communicator) {
      if (communicator.rank() == 0)
        communicator.send(std::vector<float>(4), other, CommunicationType::fp32);
    });
    CHECK(thrown[0] == rank_name(other, 3) + " is not next to rank 0 of 3");
  }
}

TEST_CASE("who waits for a neighbour that ends gets an error", "[communication]") {
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  const auto thrown = run_ranks(2, transport, [](Communicator& communicator) {
    communicator.barrier();
    if (communicator.rank() == 0) throw std::runtime_error("no more");
    communicator.receive(1000, 0, CommunicationType::fp32).get();
  });
  CHECK(thrown[1] == "rank 0 of 2: no more");
}

TEST_CASE("a neighbour that sends other than expected is out of step", "[communication]") {
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  const auto thrown = run_ranks(2, transport, [](Communicator& communicator) {
    if (communicator.rank() == 0)
      communicator.send(std::vector<float>(5), 1, CommunicationType::fp32);
    else
      communicator.receive(6, 0, CommunicationType::fp32).get();
    communicator.barrier();
  });
  CHECK_THAT(thrown[1], Catch::Contains("out of step"));
}
