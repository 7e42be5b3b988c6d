// The private MPS daemon, simulated by a script that answers like nvidia-cuda-mps-control.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "workloads/stream/mps.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

namespace fs = std::filesystem;

/// `-d` starts a daemon and a server; commands are read from standard input. FAKE_MPS selects a
/// failure.
constexpr const char* kFakeControl = R"(#!/bin/sh
dir=$CUDA_MPS_PIPE_DIRECTORY
if [ "$1" = -d ]; then
  [ "$FAKE_MPS" = fails ] && { echo "An instance of this daemon is already running"; exit 1; }
  [ "$FAKE_MPS" = hangs ] && exec sleep 1000
  sh -c 'sleep 1000 & echo $! > $0/server; echo $$ > $0/daemon; wait' $dir > /dev/null &
  while [ ! -s $dir/daemon ]; do sleep 0.01; done
  echo "control daemon started" > $CUDA_MPS_LOG_DIRECTORY/control.log
  exit 0
fi
read command server
case $command in
  get_server_list) cat $dir/server ;;
  get_client_list)
    [ $server = $(cat $dir/server) ] || exit 1
    [ "$FAKE_MPS" = no_clients ] && exit 0
    for process in /proc/[0-9]*; do
      tr '\0' '\n' < $process/environ | grep -qx "CUDA_MPS_PIPE_DIRECTORY=$dir" &&
        tr '\0' '\n' < $process/environ | grep -qx FAKE_CLIENT=1 && echo ${process#/proc/}
    done 2> /dev/null
    exit 0 ;;
  quit)
    [ "$FAKE_MPS" = hangs_at_quit ] && exec sleep 1000
    kill $(cat $dir/daemon $dir/server) ;;
esac
)";

/// A directory with the script first in PATH; also holds temporary files.
struct FakeMachine {
  fs::path path = fs::temp_directory_path() / ("doetune-mps-test-" + std::to_string(getpid()));
  std::string old_path = std::getenv("PATH");

  explicit FakeMachine(const char* wrong, bool installed = true) {
    fs::create_directories(path / "bin");
    fs::create_directories(path / "tmp");
    if (installed) {
      std::ofstream(path / "bin/nvidia-cuda-mps-control") << kFakeControl;
      fs::permissions(path / "bin/nvidia-cuda-mps-control", fs::perms::owner_all);
    }
    setenv("PATH", ((path / "bin").string() + ":" + old_path).c_str(), 1);
    setenv("TMPDIR", (path / "tmp").c_str(), 1);
    setenv("FAKE_MPS", wrong, 1);
  }
  ~FakeMachine() {
    setenv("PATH", old_path.c_str(), 1);
    unsetenv("TMPDIR");
    fs::remove_all(path);
  }
  bool nothing_left() const { return fs::is_empty(path / "tmp"); }
  /// The directory of the only daemon.
  fs::path directory() const { return fs::directory_iterator(path / "tmp")->path(); }
  pid_t pid_in(const char* file) const {
    pid_t pid = 0;
    std::ifstream(directory() / "pipe" / file) >> pid;
    REQUIRE(pid > 0);
    return pid;
  }
};

/// A process with a client's environment, killed with the object.
class Client {
 public:
  explicit Client(const MpsDaemon& daemon) {
    const auto environment = daemon.client_environment(2);
    pid_ = fork();
    REQUIRE(pid_ >= 0);
    if (pid_ > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until it has called exec
      return;
    }
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    setenv("FAKE_CLIENT", "1", 1);
    execlp("sleep", "sleep", "100", nullptr);
    _exit(127);
  }
  ~Client() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

bool gone(pid_t pid) {
  for (int attempt = 0; attempt < 1000 && kill(pid, 0) == 0; ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return kill(pid, 0) != 0;
}

}  // namespace

TEST_CASE("a daemon of one's own knows its clients, and leaves nothing", "[mps]") {
  const FakeMachine machine("");
  pid_t daemon_pid = 0, server_pid = 0;
  {
    const MpsDaemon daemon;
    daemon_pid = machine.pid_in("daemon");
    server_pid = machine.pid_in("server");
    CHECK((fs::status(machine.directory()).permissions() & fs::perms::all) == fs::perms::owner_all);
    CHECK(daemon.clients().empty());
    const Client one(daemon), other(daemon);
    CHECK(daemon.clients().size() == 2);
    CHECK_NOTHROW(daemon.verify_attached({one.pid(), other.pid()}));
    CHECK_THROWS_WITH(daemon.verify_attached({one.pid(), other.pid(), getpid()}),
                      Catch::Contains("2 of 3"));
    CHECK(daemon.client_environment(2)[2] ==
          std::pair<std::string, std::string>("CUDA_VISIBLE_DEVICES", "0,1"));
  }
  CHECK(gone(daemon_pid));
  CHECK(gone(server_pid));
  CHECK(machine.nothing_left());
}

TEST_CASE("executors that did not attach are no measurement of MPS", "[mps]") {
  const FakeMachine machine("no_clients");
  const MpsDaemon daemon;
  const Client client(daemon);
  CHECK_THROWS_WITH(daemon.verify_attached({client.pid()}),
                    Catch::Contains("0 of 1") && Catch::Contains("control daemon started"));
}

TEST_CASE("a daemon that cannot be started is said, and leaves nothing", "[mps]") {
  SECTION("it is not installed") {
    const FakeMachine machine("", false);
    CHECK_THROWS_WITH(MpsDaemon(), Catch::Contains("nvidia-cuda-mps-control") &&
                                       Catch::Contains("not in PATH") && Catch::Contains("driver"));
    CHECK(machine.nothing_left());
  }
  SECTION("it fails") {
    const FakeMachine machine("fails");
    CHECK_THROWS_WITH(MpsDaemon(), Catch::Contains("already running"));
    CHECK(machine.nothing_left());
  }
  SECTION("it hangs") {
    const FakeMachine machine("hangs");
    CHECK_THROWS_WITH(MpsDaemon(std::chrono::milliseconds(300)),
                      Catch::Contains("did not answer within 0.3 s"));
    CHECK(machine.nothing_left());
  }
}

TEST_CASE("a daemon that does not quit is ended", "[mps]") {
  const FakeMachine machine("hangs_at_quit");
  pid_t daemon_pid = 0, server_pid = 0;
  {
    const MpsDaemon daemon;
    daemon_pid = machine.pid_in("daemon");
    server_pid = machine.pid_in("server");
  }
  CHECK(gone(daemon_pid));
  CHECK(gone(server_pid));
  CHECK(machine.nothing_left());
}

TEST_CASE("a daemon ends with its coordinator, however that ends", "[mps]") {
  for (const int signal : {SIGTERM, SIGKILL}) {
    const FakeMachine machine("");
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    const pid_t coordinator = fork();
    REQUIRE(coordinator >= 0);
    if (coordinator == 0) {
      setpgid(0, 0);
      ::signal(SIGTERM, SIG_DFL);  // not the test program's handler
      const MpsDaemon daemon;
      (void)!write(ready[1], "!", 1);
      for (;;) pause();
    }
    char ignored = 0;
    REQUIRE(read(ready[0], &ignored, 1) == 1);
    close(ready[0]);
    close(ready[1]);
    const pid_t daemon_pid = machine.pid_in("daemon");
    const pid_t server_pid = machine.pid_in("server");
    kill(-coordinator, signal);  // with its whole process group
    waitpid(coordinator, nullptr, 0);
    CHECK(gone(daemon_pid));
    CHECK(gone(server_pid));
    for (int attempt = 0; attempt < 500 && !machine.nothing_left(); ++attempt)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(machine.nothing_left());
  }
}
