// Sums over processes: MPI's by a program that mpirun starts, NCCL's with one rank.
#include <catch2/catch.hpp>

#include <signal.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "tests/workloads/gpu_or_skip.h"
#include "tests/workloads/program.h"
#include "workloads/communication/bfloat16.h"
#include "workloads/communication/nccl/nccl_library.h"
#include "workloads/protocol/protocol.h"

using namespace doetune;
using namespace doetune::workloads;
using Catch::Contains;
using test::Program;
using test::ProgramDirectory;

namespace {

/// The program mpi_ranks on several ranks; none where there is no MPI.
std::unique_ptr<Program> ranks(int count, const ProgramDirectory& scratch,
                               const test::Arguments& arguments) {
  if (!std::filesystem::exists("/usr/bin/mpirun") ||
      !std::filesystem::exists(DOETUNE_MPI_LIBRARY)) {
    WARN("skipped: no Open MPI");
    return nullptr;
  }
  return std::make_unique<Program>(
      "/usr/bin/mpirun", scratch,
      test::with({"-n", std::to_string(count), "--bind-to", "none", DOETUNE_MPI_RANKS}, arguments),
      test::Variables{{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                      {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                      {"OMPI_MCA_rmaps_base_oversubscribe", "1"}});
}

/// Sets a variable for one test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

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

// The bounds and the exact sums are theory; several counts, broadcast, gathering and messages too.
TEST_CASE("over MPI a sum is right to rounding, bitwise the same on all ranks and runs",
          "[communication]") {
  const auto count = GENERATE(2, 3, 4);
  CAPTURE(count);
  std::string bits;
  for (int again = 0; again < (count == 3 ? 2 : 1); ++again) {
    const ProgramDirectory scratch;
    const auto program = ranks(count, scratch, {"sums"});
    if (!program) return;
    CHECK(program->exit_code() == 0);
    CHECK(scratch.read("err") == "");
    if (again == 1) CHECK(scratch.read("out") == bits);
    bits = scratch.read("out");
    CHECK_FALSE(bits.empty());
  }
}

TEST_CASE("what one rank throws ends all, with its name, words and exit code", "[communication]") {
  const auto guilty = GENERATE(0, 2);
  const ProgramDirectory scratch;
  const auto program = ranks(3, scratch, {"throw", std::to_string(guilty)});
  if (!program) return;
  CHECK(program->exit_code() == kExitInfeasible);
  CHECK_THAT(scratch.read("err"), Contains(rank_name(guilty, 3) + ": no memory left"));
}

TEST_CASE("a rank that dies ends all, named by mpirun", "[communication]") {
  const ProgramDirectory scratch;
  const auto program = ranks(3, scratch, {"die", "1"});
  if (!program) return;
  CHECK(program->exit_code() == 128 + SIGKILL);
  CHECK_THAT(scratch.read("err"), Contains("rank 1") && Contains("signal 9"));
}

TEST_CASE("a message other than expected is out of step", "[communication]") {
  const ProgramDirectory scratch;
  const auto program = ranks(2, scratch, {"step"});
  if (!program) return;
  CHECK(program->exit_code() == 1);
  CHECK_THAT(scratch.read("err"),
             Contains("rank 1 of 2 is out of step: its message has 20 bytes, not 24"));
}

TEST_CASE("ranks with different versions of MPI are told so", "[communication]") {
  const ProgramDirectory scratch;
  const auto program = ranks(3, scratch, {"version", "2"});
  if (!program) return;
  CHECK(program->exit_code() == kExitInfeasible);
  CHECK_THAT(scratch.read("err"), Contains("Open MPI v4.1.4 on ") && Contains(" (rank 0), and ") &&
                                      Contains("Open MPI v5.0.3 on ") &&
                                      Contains(" (rank 2): install one version on all nodes"));
}

TEST_CASE("one process sums by itself", "[communication]") {
  const auto itself = alone();
  std::vector<float> values{1.0F, 1.0F + 0x1p-8F};
  itself->wait(itself->start_all_reduce(values, CommunicationType::fp32, 2.0F));
  CHECK(values == std::vector<float>{2.0F, 2.0F + 0x1p-7F});
  itself->all_reduce(values, CommunicationType::bf16);
  CHECK(values == std::vector<float>{2.0F, 2.0F});  // a tie, to even
  CHECK_THROWS_WITH(itself->send(values, 1, CommunicationType::fp32),
                    "rank 1 of 1 is not next to rank 0 of 1");
}

TEST_CASE("NCCL with one rank gives what one process by itself gives", "[communication]") {
  if (skipped_without("cuda")) return;
  if (!has_nccl()) return skip_for_want_of_gpu("no NCCL in this build");
  for (const auto type : {CommunicationType::fp32, CommunicationType::bf16}) {
    const auto itself = alone();
    const auto sums = nccl_communicator(*itself);
    std::vector<float> values(100'003), expected(100'003);
    for (std::size_t i = 0; i < values.size(); ++i)
      expected[i] = values[i] = static_cast<float>(i % 1001) / 1001 - 0.5F;
    sums->all_reduce(values, type);
    itself->all_reduce(expected, type);
    CHECK(values == expected);
  }
}

TEST_CASE("the number of ranks comes from mpirun's or srun's variables", "[communication]") {
  CHECK_FALSE(started_ranks());
  {
    const Variable one("SLURM_STEP_NUM_TASKS", "1");
    CHECK_FALSE(started_ranks());  // one task of a job is no group
    const Variable mpirun("OMPI_COMM_WORLD_SIZE", "1");
    CHECK(started_ranks() == 1);
  }
  const Variable several("SLURM_STEP_NUM_TASKS", "8");
  CHECK(started_ranks() == 8);
  const Variable wrong("OMPI_COMM_WORLD_SIZE", "4x");
  CHECK_THROWS_WITH(started_ranks(), Contains("OMPI_COMM_WORLD_SIZE") && Contains("'4x'"));
}
