// Black-box tests of the program all-reduce: how its ranks are started, their results, and clean-up
// after one dies.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>

#include <thread>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "tests/workloads/program.h"
#include "workloads/communication/socket.h"

using namespace doetune;
using namespace doetune::workloads;
using namespace doetune::workloads::test;
using Catch::Contains;

namespace {

const Arguments kSmall{"--message_bytes", "4096", "--warmup", "0", "--duration", "0.05"};
const Arguments kEndless{"--message_bytes", "4096", "--duration", "600", "--ranks", "3"};

Program all_reduce(const ProgramDirectory& scratch, const Arguments& arguments,
                   const Variables& environment = {}, const std::string& name = "") {
  return Program(DOETUNE_ALL_REDUCE, scratch, arguments, environment, name);
}

/// The environment that a launcher on several machines sets.
Variables rank_of(int rank, int ranks, const std::string& rendezvous) {
  return {{"DOETUNE_RANK", std::to_string(rank)},
          {"DOETUNE_RANKS", std::to_string(ranks)},
          {"DOETUNE_RENDEZVOUS", rendezvous}};
}

/// A free port below the ephemeral range.
std::string rendezvous() {
  for (int port = 10000 + getpid() % 10000;; ++port) try {
      return to_text(local_address(listen_at({"127.0.0.1", port}).get()));
    } catch (const std::runtime_error&) {
      REQUIRE(port < 20000);
    }
}

/// The watcher and sum threads start when all ranks have met.
void wait_until_met(pid_t rank) {
  const std::filesystem::path threads = "/proc/" + std::to_string(rank) + "/task";
  for (int attempt = 0; attempt < 3000; ++attempt) {
    if (std::distance(std::filesystem::directory_iterator(threads), {}) > 2) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL("the ranks have not met");
}

}  // namespace

TEST_CASE("bandwidths follow from the time by nccl-tests' formula", "[program]") {
  const ProgramDirectory scratch;
  for (const std::string transport : {"shm", "tcp"})
    for (const int ranks : {1, 2, 3}) {
      CAPTURE(transport, ranks);
      REQUIRE(all_reduce(scratch, with(kSmall, {"--ranks", std::to_string(ranks), "--transport",
                                                transport, "--communication_type", "bf16"}))
                  .exit_code() == 0);
      const Json result = Json::parse(scratch.read("out"));
      const double time_s = result["responses"]["latency"];
      CHECK(result["responses"]["algorithm_bandwidth"].get<double>() ==
            Approx(4096 / 1e9 / time_s));
      CHECK(result["responses"]["bus_bandwidth"].get<double>() ==
            Approx(4096 / 1e9 / time_s * 2 * (ranks - 1) / ranks));
      CHECK(result["notes"]["ranks"] == ranks);
      CHECK(result["notes"]["transport"] == transport);
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

TEST_CASE("ranks that a launcher started meet, and one answers", "[program]") {
  const ProgramDirectory scratch;
  const std::string where = rendezvous();
  Program second = all_reduce(scratch, kSmall, rank_of(1, 2, where), "second");
  Program first = all_reduce(scratch, kSmall, rank_of(0, 2, where), "first");
  CHECK(first.exit_code() == 0);
  CHECK(second.exit_code() == 0);
  CHECK(Json::parse(scratch.read("first.out"))["notes"]["ranks"] == 2);
  CHECK(scratch.read("second.out").empty());
}

TEST_CASE("ranks that mpirun started sum over MPI", "[program]") {
  const ProgramDirectory scratch;
  if (!std::filesystem::exists("/usr/bin/mpirun")) {
    WARN("skipped: no Open MPI");
    return;
  }
  const Arguments ranks{"-n", "2", "--oversubscribe", "--bind-to", "none", DOETUNE_ALL_REDUCE};
  for (const char* type : {"fp32", "bf16"}) {
    Program program("/usr/bin/mpirun", scratch,
                    with(with(ranks, kSmall), {"--transport", "mpi", "--communication_type", type}),
                    {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
    REQUIRE(program.exit_code() == 0);
    CHECK(Json::parse(scratch.read("out"))["notes"]["transport"] == "mpi");
  }
}

TEST_CASE("a rank with other settings ends all with code 2", "[program]") {
  const ProgramDirectory scratch;
  const std::string where = rendezvous();
  Program second =
      all_reduce(scratch, with(kSmall, {"--iterations", "7"}), rank_of(1, 2, where), "second");
  Program first = all_reduce(scratch, kSmall, rank_of(0, 2, where), "first");
  CHECK(first.exit_code() == 2);
  CHECK(second.exit_code() == 2);
  for (const char* err : {"first.err", "second.err"})
    CHECK_THAT(scratch.read(err), Contains("rank 1") && Contains("iterations is 7, not 20"));
}

TEST_CASE("a rank that never comes is named", "[program]") {
  const ProgramDirectory scratch;
  Program first =
      all_reduce(scratch, with(kSmall, {"--arrival_timeout", "0.3"}), rank_of(0, 3, rendezvous()));
  CHECK(first.exit_code() == 1);
  CHECK_THAT(scratch.read("err"), Contains("rank 1, 2 of 3 did not connect"));
}

TEST_CASE("a port in use ends the run with a message that names it", "[program]") {
  const ProgramDirectory scratch;
  const FileDescriptor other = listen_at({"127.0.0.1", 0});
  const std::string where = to_text(local_address(other.get()));
  Program first = all_reduce(scratch, kSmall, rank_of(0, 2, where));
  CHECK(first.exit_code() == 1);
  CHECK_THAT(scratch.read("err"),
             Contains("in use") && Contains(where.substr(where.find(':') + 1)));
}

TEST_CASE("wrong inputs end with code 2 before any rank is started", "[program]") {
  const ProgramDirectory scratch;
  CHECK(all_reduce(scratch, {"--message_bytes", "6"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("multiple of 4"));
  CHECK(all_reduce(scratch, {"--transport", "shn"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("did you mean 'shm'"));
  CHECK(all_reduce(scratch, {"--ranks", "2"}, rank_of(0, 3, rendezvous())).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("3 processes were started"));
}

TEST_CASE("the death of any rank ends the run, named, with nothing left", "[program]") {
  const ProgramDirectory scratch;
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  const auto victim = GENERATE(0, 1, 2);
  const int pause_ms = victim == 1 ? 0 : 800;  // while the ranks meet, and while they measure
  CAPTURE(transport, victim);
  Program program = all_reduce(scratch, with(kEndless, {"--transport", transport}));
  const auto ranks = program.wait_for_children(3);
  std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  const auto start = Clock::now();
  kill(ranks[victim], SIGKILL);
  CHECK(program.exit_code() == 1);
  CHECK(Clock::now() - start < std::chrono::seconds(30));  // no hang
  CHECK_THAT(scratch.read("err"),
             Contains("rank " + std::to_string(victim) + " of 3 was ended by signal 9"));
  for (const pid_t rank : ranks) CHECK(gone(rank));
}

TEST_CASE("ranks of a launcher report which rank died", "[program]") {
  const ProgramDirectory scratch;
  const std::string where = rendezvous();
  const Arguments endless{"--message_bytes", "4096", "--duration", "600"};
  for (const std::string transport : {"shm", "tcp"}) {
    const Arguments arguments = with(endless, {"--transport", transport});
    Program first = all_reduce(scratch, arguments, rank_of(0, 3, where), "first");
    Program second = all_reduce(scratch, arguments, rank_of(1, 3, where), "second");
    Program third = all_reduce(scratch, arguments, rank_of(2, 3, where), "third");
    for (const Program* rank : {&first, &second, &third}) wait_until_met(rank->pid());
    kill(second.pid(), SIGKILL);
    CHECK(first.exit_code() == 1);
    CHECK(third.exit_code() == 1);
    second.exit_code();
    for (const char* err : {"first.err", "third.err"})
      CHECK_THAT(scratch.read(err), Contains("rank 1 of 3 died"));
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // UBSan examines objects through a pipe
TEST_CASE("a transport that fails on one rank ends the others with its reason", "[program]") {
  const ProgramDirectory scratch;
  const auto transport = GENERATE(as<std::string>(), "shm", "tcp");
  const std::string where = rendezvous();
  const Arguments endless{"--duration", "600", "--transport", transport};
  Program first = all_reduce(scratch, endless, rank_of(0, 3, where), "first");
  Program third = all_reduce(scratch, endless, rank_of(2, 3, where), "third");
  // Standard streams, the connection to rank 0, and one file more.
  Program second("/usr/bin/prlimit", scratch, with({"--nofile=5", DOETUNE_ALL_REDUCE}, endless),
                 rank_of(1, 3, where), "second");
  for (Program* rank : {&first, &second, &third}) CHECK(rank->exit_code() == 1);
  CHECK_THAT(scratch.read("second.err"), Contains("Too many open files"));
  for (const char* err : {"first.err", "third.err"})
    CHECK_THAT(scratch.read(err), Contains("rank 1 of 3: ") && Contains("Too many open files"));
}
#endif

TEST_CASE("ranks end with the program that started them, however it ends", "[program]") {
  const ProgramDirectory scratch;
  for (const int signal : {SIGTERM, SIGKILL}) {
    Program program = all_reduce(scratch, kEndless);
    const auto ranks = program.wait_for_children(3);
    kill(program.pid(), signal);
    CHECK(program.exit_code() == 128 + signal);
    for (const pid_t rank : ranks) CHECK(gone(rank));
  }
}

TEST_CASE("without its library beside the program, transport nccl ends with code 77", "[program]") {
  const ProgramDirectory scratch;
  const auto copy = scratch.path / "all-reduce";
  std::filesystem::copy_file(DOETUNE_ALL_REDUCE, copy);
  Program program(copy.c_str(), scratch, with(kSmall, {"--transport", "nccl"}));
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
  CHECK(all_reduce(scratch, with(kSmall, {"--transport", "nccl"})).exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("transport nccl"));
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // they reserve address space themselves
TEST_CASE("a message that does not fit the memory ends with code 77", "[program]") {
  const ProgramDirectory scratch;
  Program program(DOETUNE_ALL_REDUCE, scratch, {"--message_bytes", "4294967296"}, {}, "",
                  rlim_t{1} << 30);
  CHECK(program.exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("memory"));
}
#endif
