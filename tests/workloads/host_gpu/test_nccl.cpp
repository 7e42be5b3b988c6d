// NCCL's communicator with one rank, whose GPU is the host: how it waits.
#include <catch2/catch.hpp>

#include <ctime>
#include <thread>

#include "host_gpu.h"
#include "workloads/communication/nccl/nccl_communicator.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

struct Alone {
  std::unique_ptr<Communicator> processes = workloads::alone();
  std::unique_ptr<Communicator> communicator;
  explicit Alone(std::chrono::duration<double> patience = std::chrono::seconds(5))
      : communicator(make_nccl_communicator(*processes, patience)) {}
};

double seconds_on_the_cpu() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

TEST_CASE("one rank's sum by NCCL is its weighted values, rounded as they are sent", "[nccl]") {
  Alone alone;
  for (const auto type : {CommunicationType::fp32, CommunicationType::bf16}) {
    std::vector<float> values{1.0F, -2.5F, 1.0F + 0x1p-8F, 3.0F};
    alone.communicator->wait(alone.communicator->start_all_reduce(values, type, 0.5F));
    CHECK(values[1] == -1.25F);
    CHECK(values[2] == (type == CommunicationType::bf16 ? 0.5F : 0.5F + 0x1p-9F));
  }
  const Values zeros = alone.communicator->allocate(3);
  CHECK(std::ranges::count(zeros.span, 0.0F) == 3);
}

TEST_CASE("ranks that NCCL does not connect are given up", "[nccl]") {
  host_gpu::set_nccl_ready(false);
  CHECK_THROWS_WITH(Alone(std::chrono::milliseconds(50)),
                    Catch::Contains("within 0.05 s") && Catch::Contains("NCCL_DEBUG"));
  host_gpu::set_nccl_ready(true);
}

// The ranks wait so while rank 0 measures the baseline on the same cores.
TEST_CASE("a rank that waits long for a sum by NCCL leaves the CPU to others", "[nccl]") {
  constexpr std::chrono::milliseconds kPause{500};
  Alone alone;
  std::vector<float> values(4, 1.0F);
  host_gpu::set_working(false);
  std::jthread others([&] {
    std::this_thread::sleep_for(kPause);
    host_gpu::set_working(true);
  });
  const double before = seconds_on_the_cpu();
  alone.communicator->all_reduce(values);
  CHECK(seconds_on_the_cpu() - before < 0.5 * std::chrono::duration<double>(kPause).count());
  CHECK(values[0] == 1.0F);
}
