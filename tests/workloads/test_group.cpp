// How ranks form a group, and what they report when they cannot.
#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "tests/workloads/ranks.h"

using namespace doetune;
using namespace doetune::workloads;
using Catch::Contains;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::rank_contexts;
using test::run_threads;

namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// Sets variables for one test.
class Environment {
 public:
  explicit Environment(Variables variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }

 private:
  Variables variables_;
};

}  // namespace

TEST_CASE("addresses are host and port", "[group]") {
  CHECK(address_named("node7:4000").host == "node7");
  CHECK(address_named("node7:4000").port == 4000);
  CHECK(address_named("[::1]:22").host == "::1");
  CHECK(to_text(Address{"::1", 22}) == "[::1]:22");
  for (const char* wrong : {"", "node7", ":1", "node7:", "node7:0", "node7:65536", "node7:1x"})
    CHECK_THROWS_AS(address_named(wrong), std::invalid_argument);
}

TEST_CASE("the rank comes from the launcher's variables", "[group]") {
  CHECK_FALSE(rank_from_environment());
  SECTION("doetune's own") {
    const Environment set(
        {{"DOETUNE_RANK", "2"}, {"DOETUNE_RANKS", "4"}, {"DOETUNE_RENDEZVOUS", "head:5000"}});
    const auto context = rank_from_environment();
    CHECK(context->rank == 2);
    CHECK(context->ranks == 4);
    CHECK(to_text(context->rendezvous) == "head:5000");
  }
  SECTION("srun, from the list of nodes") {
    const Environment set(Variables{{"SLURM_PROCID", "5"},
                                    {"SLURM_STEP_NUM_TASKS", "8"},
                                    {"SLURM_LOCALID", "1"},
                                    {"SLURM_JOB_ID", "77"},
                                    {"SLURM_STEP_NODELIST", "gpu[03-05,09],x1"}});
    const auto context = rank_from_environment();
    CHECK(context->rank == 5);
    CHECK(context->local_rank == 1);
    CHECK(context->rendezvous.host == "gpu03");
    CHECK(context->rendezvous.port >= 20000);
    CHECK(context->rendezvous.port < 30000);
    CHECK_FALSE(context->several_machines);
    const Environment more(
        {{"SLURM_STEP_NUM_NODES", "2"}, {"SLURM_STEP_NODELIST", "rack[2-3]n[03-05,9]-ib,x"}});
    CHECK(rank_from_environment()->rendezvous.host == "rack2n03-ib");
    CHECK(rank_from_environment()->several_machines);
    for (const auto& [list, first] : Variables{{"node[1-3]-ib", "node1-ib"},
                                               {"x1,gpu[1-2]", "x1"},
                                               {"x1-a", "x1-a"},
                                               {"cut[7-", "cut7"}}) {
      const Environment hosts(Variables{{"SLURM_STEP_NODELIST", list}});
      CHECK(rank_from_environment()->rendezvous.host == first);
    }
  }
  SECTION("one task of a job is no group") {
    const Environment set(Variables{{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}});
    CHECK_FALSE(rank_from_environment());
  }
  SECTION("mpirun on one machine, and on several") {
    const Environment set(Variables{{"OMPI_COMM_WORLD_RANK", "1"},
                                    {"OMPI_COMM_WORLD_SIZE", "2"},
                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                                    {"PMIX_NAMESPACE", "1234"}});
    CHECK(rank_from_environment()->rendezvous.host == "127.0.0.1");
    const Environment apart(Variables{{"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}});
    CHECK_THROWS_WITH(rank_from_environment(), Contains("DOETUNE_RENDEZVOUS"));
    const Environment met(Variables{{"DOETUNE_RENDEZVOUS", "head:5000"}});
    CHECK(rank_from_environment()->several_machines);
  }
  SECTION("a wrong one is named") {
    const Environment set(
        {{"DOETUNE_RANK", "4"}, {"DOETUNE_RANKS", "4"}, {"DOETUNE_RENDEZVOUS", "head:5000"}});
    CHECK_THROWS_WITH(rank_from_environment(), Contains("DOETUNE_RANK must be") && Contains("'4'"));
  }
}

TEST_CASE("a rank with other settings is reported to all ranks", "[group]") {
  const auto all = rank_contexts(3);
  const auto thrown = run_threads(3, [&](int rank) {
    const Json settings{{"batch_size", rank == 2 ? 64 : 32}, {"seed", 1}};
    Group(all[rank], settings, seconds(20));
  });
  for (const std::string& what : thrown)
    CHECK(what == "rank 2 was started with other settings than rank 0: batch_size is 64, not 32");
}

TEST_CASE("two processes with one rank are refused at once, and so is who comes a little later",
          "[group]") {
  auto all = rank_contexts(5);  // rank 4 never comes
  all[2].rank = 1;
  const auto thrown = run_threads(4, [&](int rank) {
    if (rank == 3) std::this_thread::sleep_for(milliseconds(300));
    Group(all[rank], Json::object(), std::chrono::hours(1));
  });
  for (const std::string& what : thrown) CHECK(what == "two processes claim to be rank 1 of 5");
}

TEST_CASE("what thousands of ranks say together is longer than what a stranger may say",
          "[group]") {
  const auto all = rank_contexts(3);
  const auto thrown = run_threads(3, [&](int rank) {
    Group group(all[rank], Json::object(), seconds(20));
    const auto texts = group.gather(std::string(kLongestText - 100, static_cast<char>('a' + rank)));
    for (int other = 0; other < 3; ++other)
      if (texts[other] != std::string(kLongestText - 100, static_cast<char>('a' + other)))
        throw std::runtime_error("other texts");
    group.watch();
  });
  CHECK(thrown == std::vector<std::string>(3));
}

TEST_CASE("many ranks that never come are not all listed", "[group]") {
  const RankContext context = rank_contexts(500)[0];
  CHECK_THROWS_WITH(Group(context, Json::object(), milliseconds(100)),
                    Contains("rank 1, 2, 3, 4, 5, 6, 7, 8 and 491 others of 500 did not connect"));
}

TEST_CASE("a name that means this machine alone is refused, with what to set", "[group]") {
  CHECK(loopback_of({"127.0.1.1", 5000}) == "127.0.1.1");
  CHECK(loopback_of({"::1", 5000}) == "::1");
  CHECK(loopback_of({"192.0.2.1", 5000}).empty());  // RFC 5737: for documentation
  const std::string loopback = loopback_of({"localhost", 5000});
  const auto why = Contains("no other machine reaches localhost, which is " + loopback);
  const auto remedy = Contains("DOETUNE_RENDEZVOUS=host:port must give an address");
  const auto message = why && remedy;
  const RankContext root{0, 2, 0, {"localhost", 5000}, -1, true};
  CHECK_THROWS_AS(Group(root, Json::object(), std::chrono::hours(1)), UsageError);
  CHECK_THROWS_WITH(Group(root, Json::object(), std::chrono::hours(1)), message);
  const int nobody = local_address(listen_at({"127.0.0.1", 0}).get()).port;
  const RankContext other{1, 2, 0, {"localhost", nobody}, -1};
  CHECK_THROWS_WITH(Group(other, Json::object(), milliseconds(100)), message);
}

#if !defined(__SANITIZE_ADDRESS__)  // UBSan examines objects through a pipe
TEST_CASE("no descriptor for another connection is reported, not waited for", "[group]") {
  const FileDescriptor listener = listen_at({"127.0.0.1", 0});
  const Address address = local_address(listener.get());
  const auto never = Clock::now() + std::chrono::hours(1);
  const FileDescriptor waiting = connect_to(address, never);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = static_cast<rlim_t>(FileDescriptor(dup(0)).get());  // the next descriptor
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto why = Contains("Too many open files"), remedy = Contains("ulimit -n");
  const auto message = why && remedy;
  CHECK_THROWS_WITH(connect_to(address, never), message);
  CHECK_THROWS_WITH(accept_at(listener.get(), never), message);
  CHECK_THROWS_WITH(listen_at({"127.0.0.1", 0}), message);
  allow_connections(10);
  CHECK(accept_at(listener.get(), never));
  limit.rlim_cur = before;
  setrlimit(RLIMIT_NOFILE, &limit);
}
#endif

TEST_CASE("a rank that never comes is named when the time is over", "[group]") {
  const auto all = rank_contexts(4);
  const auto thrown = run_threads(4, [&](int rank) {
    // Enough time for the others on busy cores.
    if (rank != 2) Group(all[rank], Json::object(), seconds(5));
  });
  for (const int rank : {0, 1, 3})
    CHECK_THAT(thrown[rank], Contains("rank 2 of 4 did not connect"));
}

TEST_CASE("without rank 0 the others end when the time is over", "[group]") {
  auto all = rank_contexts(2);
  close(all[0].listener);
  CHECK_THROWS_WITH(Group(all[1], Json::object(), milliseconds(300)),
                    Contains("rank 1 did not find all of 2 ranks"));
}

TEST_CASE("a port in use is reported", "[group]") {
  const FileDescriptor other = listen_at({"127.0.0.1", 0});
  const RankContext context{0, 2, 0, local_address(other.get()), -1};
  CHECK_THROWS_WITH(Group(context, Json::object(), seconds(1)),
                    Contains("in use") && Contains(std::to_string(context.rendezvous.port)));
}

TEST_CASE("strangers and cut messages at the rendezvous change nothing", "[group]") {
  const auto all = rank_contexts(2);
  const auto strange = [&](std::string_view bytes) {
    const FileDescriptor socket = connect_to(all[0].rendezvous, Clock::now() + seconds(5));
    send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  };
  strange("");
  strange("GET / HTTP/1.1\r\n\r\n");                        // a length of 542,393,671 bytes
  strange(std::string_view("\x40\0\0\0{\"doetune\"", 14));  // truncated
  strange(std::string_view("\x03\0\0\0[1]", 7));            // not an object
  strange(std::string_view("\x0f\0\0\0{\"rank\":\"first\"}", 19));
  const auto thrown =
      run_threads(2, [&](int rank) { Group(all[rank], Json::object(), seconds(20)); });
  CHECK(thrown == std::vector<std::string>(2));
}

TEST_CASE("a server that is not doetune's is reported", "[group]") {
  const FileDescriptor listener = listen_at({"127.0.0.1", 0});
  const RankContext context{1, 2, 1, local_address(listener.get()), -1};
  const auto thrown = run_threads(2, [&](int rank) {
    if (rank == 1) Group(context, Json::object(), seconds(5));
    if (rank == 0) {
      const auto deadline = Clock::now() + seconds(5);
      const FileDescriptor socket = accept_at(listener.get(), deadline);
      send_text(socket.get(), "SSH-2.0-OpenSSH");
      receive_text(socket.get(), deadline);
    }
  });
  CHECK_THAT(thrown[1], Contains("does not answer like doetune"));
}

TEST_CASE("ranks may leave at different times", "[group]") {
  const auto thrown = test::run_ranks(3, "tcp", [](Communicator& communicator) {
    communicator.barrier();
    usleep(communicator.rank() * 150'000);
  });
  CHECK(thrown == std::vector<std::string>(3));
}
