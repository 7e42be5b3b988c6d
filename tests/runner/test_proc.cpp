// Readers of /proc, with known texts and against other accounts by the kernel.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "runner/processes/proc_files.h"
#include "runner/processes/process_table.h"
#include "runner/telemetry/pace.h"
#include "runner/telemetry/package_energy.h"
#include "runner/telemetry/process_trees.h"
#include "tests/runner/child.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::ProcessTrees;
using tests::burn;
using tests::Child;

namespace {

/// Waits until a condition holds; the time limit of the test applies.
template <class Condition>
void until(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

/// Blocks a process until its parent dies, without processor use; at most half a minute, since the
/// parent may have died before.
[[noreturn]] void rest() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::alarm(30);
  for (;;) ::pause();
}

/// Times at which a reading of this cost takes place, at ten ticks a second.
std::vector<double> readings_s(double cost_s, double length_s) {
  constexpr double kTick_s = 0.1;
  runner::Pace pace;
  std::vector<double> times_s;
  for (double now_s = 1000; now_s < 1000 + length_s; now_s += kTick_s) {
    if (!pace.due(now_s)) continue;
    times_s.push_back(now_s - 1000);
    pace.took(now_s, cost_s);
  }
  return times_s;
}

char state_of(pid_t pid) {
  const auto stat =
      runner::parse_process_stat(runner::read_proc_file(fmt::format("/proc/{}/stat", pid)));
  return stat ? stat->state : '?';
}

}  // namespace

TEST_CASE("Processor times are those of the processors asked for", "[telemetry][proc]") {
  const double hz = static_cast<double>(::sysconf(_SC_CLK_TCK));
  // user nice system idle iowait irq softirq steal guest guest_nice, by proc(5)
  const std::string stat =
      "cpu  1110 220 330 4440 550 66 77 88 9 1\n"
      "cpu0 1000 200 300 4000 500 60 70 80 9 1\n"
      "cpu3 110 20 30 440 50 6 7 8 0 0\n"
      "intr 123 4 5\nctxt 99\n";
  const auto one = runner::cpu_times(stat, {3});
  CHECK(one.busy_s * hz == Approx(110 + 20 + 30 + 6 + 7));
  CHECK(one.iowait_s * hz == Approx(50));
  CHECK(one.steal_s * hz == Approx(8));
  CHECK(one.idle_s * hz == Approx(440));
  CHECK(one.total_s() * hz == Approx(671));
  const auto all = runner::cpu_times(stat, {});
  const auto both = runner::cpu_times(stat, {0, 3, 7});
  CHECK(all.busy_s == Approx(both.busy_s));
  CHECK(all.total_s() == Approx(both.total_s()));
  CHECK(runner::cpu_times("", {0}).total_s() == 0);
}

TEST_CASE("A fraction of the processors' time is one, whatever the kernel counts",
          "[telemetry][proc]") {
  using runner::CpuTimes, runner::fraction_between;
  const CpuTimes before{1, 5, 0, 1};
  CHECK(fraction_between(before, {2, 6, 0, 3}, &CpuTimes::busy_s) == 0.25);
  CHECK(fraction_between(before, {2, 4.5, 0, 1}, &CpuTimes::busy_s) == 1);  // iowait fell
  CHECK(fraction_between(before, {2, 4.5, 0, 1}, &CpuTimes::iowait_s) == 0);
  CHECK_FALSE(fraction_between(before, before, &CpuTimes::busy_s));
  // Nothing but work: the quotient is above 1 by rounding.
  const CpuTimes rounded{0.1, 0.7, 0.3, 1e5}, later{0.7, 0.7, 0.3, 1e5};
  CHECK(*fraction_between(rounded, later, &CpuTimes::busy_s) <= 1);
}

TEST_CASE("Lines of meminfo and of pressure files are read by name", "[telemetry][proc]") {
  const std::string meminfo = "MemTotal:  16384 kB\nMemAvailable:   1000 kB\nSwapFree: 0 kB\n";
  CHECK(runner::meminfo_bytes(meminfo, "MemAvailable") == 1024000);
  CHECK(runner::meminfo_bytes(meminfo, "SwapFree") == 0);
  CHECK_FALSE(runner::meminfo_bytes(meminfo, "Mem"));
  CHECK_FALSE(runner::meminfo_bytes(meminfo, "SwapTotal"));
  CHECK(runner::stalled_s("some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull ...\n") ==
        Approx(1.5));
  CHECK_FALSE(runner::stalled_s(""));
  CHECK_FALSE(runner::stalled_s("full avg10=0.00 total=1\n"));
}

TEST_CASE("A program's name cannot spoil what is read of it", "[telemetry][proc]") {
  const std::string rest =
      " S 7 8 9 0 -1 4194560 100 0 5 6 10 20 30 40 20 0 1 0 12345 1000000 250 184467";
  const auto stat = runner::parse_process_stat("4711 (a) R 1 (b)" + rest);
  REQUIRE(stat);
  CHECK(stat->state == 'S');
  CHECK(stat->parent == 7);
  CHECK(stat->group == 8);
  CHECK(stat->session == 9);
  CHECK(stat->major_faults == 11);
  CHECK(stat->cpu_s == Approx(100.0 / static_cast<double>(::sysconf(_SC_CLK_TCK))));
  CHECK(stat->resident_bytes == 250.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  const std::string text = "4711 (name)" + rest;
  const std::size_t needed = text.rfind(' ');
  for (std::size_t length = 0; length + 4 < needed; ++length) {
    CHECK_FALSE(runner::parse_process_stat(text.substr(0, length)));
  }
}

TEST_CASE("Processor time of a process is what the kernel reports to it", "[telemetry][proc]") {
  Child busy([] {
    burn(0.25);
    rest();
  });
  until([&] { return state_of(busy.pid()) == 'S'; });
  ProcessTrees trees;
  trees.add("a", busy.pid());
  trees.search();
  const auto use = trees.use("a");
  CHECK(use.processes == 1);
  CHECK(use.resident_bytes > 0);
  ::kill(busy.pid(), SIGKILL);
  CHECK(use.cpu_s == Approx(busy.wait()).margin(0.03));  // getrusage; ticks of 10 ms
}

TEST_CASE("What children used counts, alive, waited for or left behind", "[telemetry][proc]") {
  Child parent([] {
    if (::fork() == 0) {  // waited for
      burn(0.1);
      ::_exit(0);
    }
    ::wait(nullptr);
    if (::fork() == 0) {  // alive, in its own session, with a child
      ::setsid();
      if (::fork() == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        burn(0.1);
        rest();
      }
      rest();
    }
    rest();
  });
  ProcessTrees trees;
  trees.add("a", parent.pid());
  until([&] {
    trees.search();
    return trees.use("a").processes == 3 && trees.use("a").cpu_s >= 0.16;
  });
  CHECK(trees.use("a").cpu_s == Approx(0.2).margin(0.05));
  CHECK(trees.use("unknown").processes == 0);
}

TEST_CASE("Processes of two attempts and of neither are distinguished", "[telemetry][proc]") {
  Child one([] { rest(); });
  Child two([] {
    if (::fork() == 0) rest();
    rest();
  });
  Child neither([] { rest(); });
  ProcessTrees trees;
  trees.add("one", one.pid());
  trees.add("two", two.pid());
  until([&] {
    trees.search();
    return trees.use("two").processes == 2;
  });
  CHECK(trees.use("one").processes == 1);
  trees.remove("two");
  trees.search();
  CHECK(trees.use("two").processes == 0);
  CHECK(trees.use("one").processes == 1);
}

TEST_CASE("A server counts for the run that uses it, from its start on", "[telemetry][proc]") {
  Child server([] {
    burn(0.3);  // loads a model
    if (::fork() == 0) {
      ::raise(SIGSTOP);  // until the first request
      burn(0.2);
      rest();
    }
    rest();
  });
  std::vector<pid_t> workers;
  until([&] {
    workers = runner::children(server.pid());
    return !workers.empty() && state_of(workers[0]) == 'T';
  });
  Child load([] { rest(); });
  ProcessTrees trees;
  trees.add("run", load.pid(), server.pid());
  trees.search();
  CHECK(trees.use("run").processes == 3);
  CHECK(trees.use("run").cpu_s < 0.1);
  ::kill(workers[0], SIGCONT);
  until([&] { return trees.use("run").cpu_s >= 0.16; });
  CHECK(trees.use("run").cpu_s == Approx(0.2).margin(0.05));
}

TEST_CASE("A total never falls, though a part of it goes away", "[telemetry][proc]") {
  runner::Growing total;
  for (const double value : {5.0, 7.0, 3.0, 4.0}) total.see(value);
  CHECK(total.total() == 3);  // 5 to 7, 3 to 4
  runner::Growing from_zero{0.0};
  from_zero.see(5);
  CHECK(from_zero.total() == 5);
}

TEST_CASE("Bytes written and context switches are counted", "[telemetry][proc]") {
  const tests::TemporaryDirectory temporary;
  Child writer([&] {
    const int file = ::open((temporary / "f").c_str(), O_WRONLY | O_CREAT, 0666);
    const std::string block(1 << 20, 'x');
    if (::write(file, block.data(), block.size()) < 0) ::_exit(1);
    for (int i = 0; i < 50; ++i) ::poll(nullptr, 0, 1);
    ::close(file);
    rest();
  });
  ProcessTrees trees;
  trees.add("a", writer.pid());
  CHECK(trees.context_switches("a").voluntary == 0);  // since the first reading
  until([&] { return trees.context_switches("a").voluntary >= 20; });
  const auto use = trees.use("a");
  REQUIRE(use.written_bytes);
  // Files in memory do not count as storage.
  CHECK((*use.written_bytes >= 1 << 20 || *use.written_bytes == 0));
  CHECK(use.read_bytes.value() >= 0);
}

TEST_CASE("Energy of the processors is added up over packages and wraps", "[telemetry][proc]") {
  const tests::TemporaryDirectory temporary;
  const auto set = [&](int package, long energy_uj) {
    const auto directory = temporary / fmt::format("intel-rapl:{}", package);
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "energy_uj") << energy_uj << '\n';
    std::ofstream(directory / "max_energy_range_uj") << 1'000'000'000 << '\n';
  };
  set(0, 999'000'000);
  set(1, 5'000'000);
  runner::PackageEnergy energy(temporary / "");
  CHECK(energy.read_j() == 0);
  set(0, 1'000'000);
  set(1, 8'000'000);
  CHECK(energy.read_j().value() == Approx(2 + 3));
  CHECK_FALSE(runner::PackageEnergy(temporary / "nowhere").read_j());
}

TEST_CASE("A slow reading is rare in a long run, and covers most of a short one",
          "[telemetry][proc]") {
  for (const double cost_s : {0.0001, 0.005, 0.05, 1.0}) {
    for (double length_s = 2.5; length_s < 100; length_s *= 1.3) {
      INFO("cost " << cost_s << " s, length " << length_s << " s");
      CHECK(readings_s(cost_s, length_s).back() > 0.6 * length_s - 0.2);
    }
  }
  constexpr double kHour_s = 3600;
  CHECK(readings_s(0.0001, kHour_s).size() == Approx(kHour_s).epsilon(0.01));
  CHECK(readings_s(0.05, kHour_s).size() ==
        Approx(kHour_s / 100).margin(12));  // twelve at the start
}
