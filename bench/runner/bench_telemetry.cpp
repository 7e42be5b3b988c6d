// The overhead of telemetry: bench_telemetry [SECONDS [PAIRS]].
//
// First the processor time per sample, next to that of sleeping only, with workloads of one process
// and of many threads, and with simulated GPUs (a fake NVML, without the cost of the driver). Then
// an A/B comparison: the work that a program on all processors does per second of their time, with
// telemetry at 10 Hz and without, in PAIRS of 1 s each, in random order.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/host.h"
#include "base/random.h"
#include "runner/attempts/slots.h"
#include "runner/processes/proc_files.h"
#include "runner/telemetry/recorder.h"
#include "tests/runner/child.h"
#include "tests/runner/fake_nvml.h"
#include "tests/temporary_directory.h"

using namespace doetune;

namespace {

double cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

/// Processor time per sample, at 10 Hz for this time.
void measure_cost(const char* what, double seconds, int threads,
                  const std::vector<std::string>& gpus) {
  const tests::TemporaryDirectory temporary;
  tests::Child child([&] {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back([] { ::pause(); });
    ::pause();
  });
  runner::TelemetryRecorder recorder(10);
  recorder.add({"a", child.pid(), gpus, {}, temporary / "t.csv"});
  sleep_s(1.5);  // the first readings open files and search all processes
  const double began_cpu_s = cpu_s();
  const double began_s = monotonic_s();
  sleep_s(seconds);
  const double used_s = cpu_s() - began_cpu_s;
  const double took_s = monotonic_s() - began_s;
  recorder.remove("a");
  fmt::print("| {} | {:.0f} | {:.3f} |\n", what, 1e6 * used_s / (10 * took_s),
             100 * used_s / took_s);
}

/// The cost of waking up at the same rate, and of reading one file of /proc each time.
void measure_floor(const char* what, double seconds, const char* file) {
  std::optional<runner::ProcFile> open;
  if (file != nullptr) open.emplace(file);
  const int times = static_cast<int>(10 * seconds);
  const double began_cpu_s = cpu_s();
  for (int i = 0; i < times; ++i) {
    sleep_s(0.1);
    if (open) open->read();
  }
  const double used_s = cpu_s() - began_cpu_s;
  fmt::print("| {} | {:.0f} | {:.3f} |\n", what, 1e6 * used_s / times, 100 * used_s / seconds);
}

double thread_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Work per second of processor time, over all processors; other programs take wall time, but not
/// this time.
double work_rate(double seconds) {
  std::atomic<double> done = 0;
  std::atomic<double> used_s = 0;
  std::vector<std::thread> threads;
  const double end_s = monotonic_s() + seconds;
  for (std::size_t i = 0; i < usable_cpus().size(); ++i) {
    threads.emplace_back([&] {
      double mine = 0;
      volatile double value = 1;
      while (monotonic_s() < end_s) {
        for (int k = 0; k < 10000; ++k) value = value * 1.0000001 + 1e-9;
        ++mine;
      }
      done += mine;
      used_s += thread_cpu_s();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return done / used_s;
}

double one_half(bool with_telemetry, double seconds) {
  const tests::TemporaryDirectory temporary;
  std::optional<runner::TelemetryRecorder> recorder;
  if (with_telemetry) {
    recorder.emplace(10);
    recorder->add({"a", ::getpid(), {}, {}, temporary / "t.csv"});
  }
  return work_rate(seconds);
}

void compare(double seconds, int pairs) {
  RandomStream random(1, 0);
  std::vector<double> changes;
  for (int pair = 0; pair < pairs; ++pair) {
    const bool first_with = random.uniform() < 0.5;
    const double first = one_half(first_with, seconds);
    const double second = one_half(!first_with, seconds);
    changes.push_back(std::log(first_with ? first / second : second / first));
  }
  double mean = 0;
  for (const double change : changes) mean += change / pairs;
  double variance = 0;
  for (const double change : changes) variance += (change - mean) * (change - mean) / (pairs - 1);
  fmt::print(
      "\nWork per second of processor time, with telemetry over without: {:+.2f} %, "
      "standard error {:.2f} % ({} pairs of {} s)\n",
      100 * mean, 100 * std::sqrt(variance / pairs), pairs, seconds);
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 10;
  const int pairs = count > 2 ? std::atoi(arguments[2]) : 60;
  fmt::print("| workload | CPU us a sample | % of a core at 10 Hz |\n| --- | --- | --- |\n");
  measure_floor("none: sleeps alone", seconds, nullptr);
  measure_floor("none: sleeps, reads /proc/stat", seconds, "/proc/stat");
  measure_cost("1 process", seconds, 0, {});
  measure_cost("1 process of 100 threads", seconds, 100, {});
  {
    const tests::FakeNvml fake(
        nlohmann::json{{"gpus", {tests::busy_gpu("GPU-1111"), tests::busy_gpu("GPU-2222")}}});
    measure_cost("1 process, 2 GPUs of the fake NVML", seconds, 0, {"0", "1"});
  }
  compare(1, pairs);
}
