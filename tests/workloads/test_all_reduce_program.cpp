// Black-box tests of the program all-reduce: how its ranks are started, their results, and clean-up
// after one dies.
#include <catch2/catch.hpp>

#include <signal.h>

#include <thread>

#include "tests/workloads/program.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::test;
using Catch::Contains;

namespace {

const Arguments kSmall{"--message_bytes", "4096", "--warmup", "0", "--duration", "0.05"};
const Arguments kEndless{"--message_bytes", "4096", "--duration", "600", "--ranks", "3"};

const Variables kMpirun{{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                        {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};

bool has_mpirun() {
  if (std::filesystem::exists("/usr/bin/mpirun")) return true;
  WARN("skipped: no Open MPI");
  return false;
}

/// A process whose parent has ended gets its signal a moment later.
bool gone_soon(pid_t pid) {
  for (int attempt = 0; attempt < 1000 && !gone(pid); ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return gone(pid);
}

Program all_reduce(const ProgramDirectory& scratch, const Arguments& arguments,
                   const Variables& environment = {}, const std::string& name = "") {
  return Program(DOETUNE_ALL_REDUCE, scratch, arguments, environment, name);
}

}  // namespace

TEST_CASE("bandwidths follow from the time by nccl-tests' formula", "[program]") {
  const ProgramDirectory scratch;
  for (const int ranks : {1, 2, 3}) {
    CAPTURE(ranks);
    REQUIRE(all_reduce(scratch, with(kSmall, {"--ranks", std::to_string(ranks),
                                              "--communication_type", "bf16"}))
                .exit_code() == 0);
    const Json result = Json::parse(scratch.read("out"));
    const double time_s = result["responses"]["latency"];
    CHECK(result["responses"]["algorithm_bandwidth"].get<double>() == Approx(4096 / 1e9 / time_s));
    CHECK(result["responses"]["bus_bandwidth"].get<double>() ==
          Approx(4096 / 1e9 / time_s * 2 * (ranks - 1) / ranks));
    CHECK(result["notes"]["ranks"] == ranks);
    CHECK(result["notes"]["transport"] == (ranks == 1 ? "none" : "mpi"));
    CHECK(result["series"]["latency"].size() >= 10);
  }
}

TEST_CASE("a request file is answered once, by rank 0", "[program]") {
  const ProgramDirectory scratch;
  std::ofstream(scratch.path / "request.json")
      << R"({"factors": {"ranks": 3}, "settings": {"message_bytes": 4096, "duration": 0.05},
             "repeats": 2, "warmup_s": 0, "cpus": [0], "time_limit_s": 60})";
  REQUIRE(all_reduce(scratch, {}, by_files(scratch)).exit_code() == 0);
  const Json result = Json::parse(scratch.read("result.json"));
  CHECK(result["repeats"]["latency"].size() == 2);
  CHECK(scratch.read("out").empty());
}

TEST_CASE("ranks that mpirun started answer once", "[program]") {
  const ProgramDirectory scratch;
  if (!has_mpirun()) return;
  Program program("/usr/bin/mpirun", scratch, with({"-n", "2", DOETUNE_ALL_REDUCE}, kSmall),
                  kMpirun);
  REQUIRE(program.exit_code() == 0);
  CHECK(Json::parse(scratch.read("out"))["notes"]["ranks"] == 2);
}

TEST_CASE("a rank with other settings ends all with code 2", "[program]") {
  const ProgramDirectory scratch;
  if (!has_mpirun()) return;
  const Arguments first = with({"-n", "1", DOETUNE_ALL_REDUCE}, kSmall);
  const Arguments second = with({":", "-n", "1", DOETUNE_ALL_REDUCE, "--iterations", "7"}, kSmall);
  Program program("/usr/bin/mpirun", scratch, with(first, second), kMpirun);
  CHECK(program.exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("rank 1 of 2 was started with other settings"));
}

TEST_CASE("wrong inputs end with code 2 before any rank is started", "[program]") {
  const ProgramDirectory scratch;
  CHECK(all_reduce(scratch, {"--message_bytes", "6"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("multiple of 4"));
  CHECK(all_reduce(scratch, {"--transport", "mqi"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("did you mean 'mpi'"));
  CHECK(all_reduce(scratch, {"--ranks", "2"}, {{"OMPI_COMM_WORLD_SIZE", "3"}}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("3 processes were started"));
}

TEST_CASE("the death of any rank ends the run, with nothing left", "[program]") {
  const ProgramDirectory scratch;
  const auto victim = GENERATE(0, 2);
  const int pause_ms = victim == 0 ? 0 : 3000;  // while the ranks meet, and while they measure
  CAPTURE(victim);
  Program program = all_reduce(scratch, kEndless);
  const auto ranks = ranks_of(program, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  kill(ranks[victim], SIGKILL);
  CHECK(program.exit_code() == 1);
  CHECK_THAT(scratch.read("err"), Contains("a rank was ended by signal 9"));
  if (victim != 0) CHECK_THAT(scratch.read("err"), Contains("rank 2 "));  // mpirun knows it by then
  for (const pid_t rank : ranks) CHECK(gone(rank));
}

TEST_CASE("ranks end with the program that started them, however it ends", "[program]") {
  const ProgramDirectory scratch;
  for (const int signal : {SIGTERM, SIGKILL}) {
    Program program = all_reduce(scratch, kEndless);
    const auto ranks = ranks_of(program, 3);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    kill(program.pid(), signal);
    CHECK(program.exit_code() == 128 + signal);
    for (const pid_t rank : ranks) CHECK(gone_soon(rank));
  }
}

TEST_CASE("without MPI one process measures, and several end with code 77 and what to install",
          "[program]") {
  const ProgramDirectory scratch;
  const auto copy = scratch.path / "all-reduce";
  std::filesystem::copy_file(DOETUNE_ALL_REDUCE, copy);  // without the library beside it
  CHECK(Program(copy.c_str(), scratch, with(kSmall, {"--ranks", "1"})).exit_code() == 0);
  CHECK(Program(copy.c_str(), scratch, with(kSmall, {"--ranks", "2"})).exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("there is no transport mpi") &&
                                      Contains("apt install libopenmpi-dev openmpi-bin"));
  CHECK(all_reduce(scratch, with(kSmall, {"--ranks", "2"}), {{"PATH", "/nowhere"}}).exit_code() ==
        77);
  CHECK_THAT(scratch.read("err"), Contains("mpirun") && Contains("apt install openmpi-bin"));
}

TEST_CASE("processes that MPI does not connect end with code 77 and what to do", "[program]") {
  const ProgramDirectory scratch;
  CHECK(all_reduce(scratch, kSmall, {{"SLURM_STEP_NUM_TASKS", "2"}}).exit_code() == 77);
  CHECK_THAT(scratch.read("err"),
             Contains("2 processes were started, but MPI connects 1") && Contains("--mpi=pmix"));
}

TEST_CASE("without its library beside the program, transport nccl ends with code 77", "[program]") {
  const ProgramDirectory scratch;
  const auto copy = scratch.path / "all-reduce";
  std::filesystem::copy_file(DOETUNE_ALL_REDUCE, copy);
  Program program(copy.c_str(), scratch, with(kSmall, {"--ranks", "1", "--transport", "nccl"}));
  CHECK(program.exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("there is no transport nccl"));
}

TEST_CASE("without a GPU, or without NCCL in the build, transport nccl ends with code 77",
          "[program]") {
  const ProgramDirectory scratch;
  if (std::filesystem::exists("/dev/nvidiactl")) {
    WARN("skipped: there is a GPU");
    return;
  }
  CHECK(all_reduce(scratch, with(kSmall, {"--ranks", "1", "--transport", "nccl"})).exit_code() ==
        77);
  CHECK_THAT(scratch.read("err"), Contains("transport nccl"));
}

#ifndef DOETUNE_SANITIZED  // sanitizers reserve address space themselves
TEST_CASE("a message that does not fit the memory ends with code 77", "[program]") {
  const ProgramDirectory scratch;
  Program program(DOETUNE_ALL_REDUCE, scratch, {"--message_bytes", "4294967296", "--ranks", "1"},
                  {}, "", rlim_t{1} << 30);
  CHECK(program.exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("memory"));
}
#endif
