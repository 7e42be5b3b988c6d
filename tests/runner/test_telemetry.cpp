// telemetry.csv, written by the recorder and read back.
#include <fmt/format.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "runner/telemetry/recorder.h"
#include "runner/telemetry/sample.h"
#include "study/directory/directory.h"
#include "tests/runner/child.h"
#include "tests/runner/fake_nvml.h"

using namespace doetune;
using nlohmann::json;
using runner::Sample;
using runner::Telemetry;
using runner::TelemetryRecorder;
using tests::burn;
using tests::Child;

namespace {

template <class Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

Sample full_sample(double time_s, std::size_t gpus) {
  Sample sample{time_s, {}, std::vector<runner::GpuSample>(gpus)};
  double value = 0.5;
  for (const auto& column : runner::host_columns()) sample.host.*column.value = value++;
  for (auto& gpu : sample.gpus) {
    for (const auto& column : runner::gpu_columns()) gpu.*column.value = value++;
  }
  return sample;
}

std::string text_of(const std::vector<Sample>& samples, std::size_t gpus) {
  std::string text = runner::telemetry_header(gpus);
  for (const Sample& sample : samples) runner::append_line(text, sample);
  return text;
}

Telemetry recorded(const std::filesystem::path& file) {
  return runner::parse_telemetry(study::read_file(file));
}

}  // namespace

TEST_CASE("Samples are read as they were written", "[telemetry]") {
  Sample sparse{2.5, {}, std::vector<runner::GpuSample>(2)};
  sparse.gpus[1].energy_j = 123456789012.345;
  const std::vector<Sample> samples{full_sample(1.5, 2), sparse};
  const Telemetry read = runner::parse_telemetry(text_of(samples, 2));
  CHECK(read.problem.empty());
  REQUIRE(read.samples.size() == 2);
  CHECK(read.samples[0].time_s == 1.5);
  for (const auto& column : runner::host_columns()) {
    CHECK(read.samples[0].host.*column.value == samples[0].host.*column.value);
    CHECK_FALSE(read.samples[1].host.*column.value);
  }
  for (const auto& column : runner::gpu_columns()) {
    CHECK(read.samples[0].gpus[1].*column.value == samples[0].gpus[1].*column.value);
  }
  CHECK(read.samples[1].gpus[1].energy_j == 123456789012.345);
  CHECK_FALSE(read.samples[1].gpus[0].energy_j);
}

TEST_CASE("A file that was cut off anywhere gives its complete lines", "[telemetry]") {
  const std::string text = text_of({full_sample(1, 1), full_sample(2, 1), full_sample(3, 1)}, 1);
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string torn = text.substr(0, length);
    const auto lines = static_cast<std::size_t>(std::count(torn.begin(), torn.end(), '\n'));
    const Telemetry read = runner::parse_telemetry(torn);
    CHECK(read.samples.size() == (lines == 0 ? 0 : lines - 1));
    CHECK(read.problem.empty() == !read.samples.empty());
  }
}

TEST_CASE("A line that anybody spoilt is passed over", "[telemetry]") {
  const std::string good = text_of({full_sample(1, 0)}, 0);
  std::string later;
  runner::append_line(later, full_sample(5, 0));
  for (const std::string bad :
       {"", "nonsense", ",,,", "2.0", "nan,,,,,,,,,,,,,,,,,", "inf,,,,,,,,,,,,,,,,,",
        "2.0,1e999,,,,,,,,,,,,,,,,", "2.0,x,,,,,,,,,,,,,,,,", "0.5,,,,,,,,,,,,,,,,,",
        "2.0,,,,,,,,,,,,,,,,,,", "1.0,,,,,,,,,,,,,,,,,"}) {
    CAPTURE(bad);
    const Telemetry read = runner::parse_telemetry(good + bad + "\n" + later);
    REQUIRE(read.samples.size() == 2);
    CHECK(read.samples[1].time_s == 5);
  }
}

TEST_CASE("A file of anything else has no samples, and a reason", "[telemetry]") {
  for (const std::string& text : {std::string(), std::string("\n"), std::string("\0\0\0", 3),
                                  std::string("time_s,power\n1,2\n"), std::string(100000, ',')}) {
    const Telemetry read = runner::parse_telemetry(text);
    CHECK(read.samples.empty());
    CHECK_FALSE(read.problem.empty());
  }
}

TEST_CASE("An attempt's work is in its file", "[telemetry][recorder]") {
  const tests::TemporaryDirectory temporary;
  Child busy([] { burn(1e9); });
  {
    TelemetryRecorder recorder(50);
    recorder.add({"a", busy.pid(), {}, {}, temporary / "telemetry.csv"});
    wait_until([&] { return recorder.activity("a") > 1.2; });
    recorder.remove("a");
    CHECK(recorder.activity("a") == 0);
  }
  const Telemetry read = recorded(temporary / "telemetry.csv");
  REQUIRE(read.samples.size() >= 3);
  for (std::size_t i = 1; i < read.samples.size(); ++i) {  // no duplicates, no catching up
    CHECK(read.samples[i].time_s - read.samples[i - 1].time_s > 0.99 / 50);
  }
  double process_cpu_s = 0;
  double busy_fraction = 0;
  for (const Sample& sample : read.samples) {
    CHECK(sample.time_s <= monotonic_s());
    process_cpu_s = std::max(process_cpu_s, sample.host.process_cpu_s.value_or(0));
    busy_fraction = std::max(busy_fraction, sample.host.cpu_busy.value_or(0));
    CHECK(sample.host.cpu_busy.value_or(0) <= 1);
  }
  CHECK(process_cpu_s > 0.1);
  CHECK(busy_fraction > 0);
  CHECK(read.samples[0].host.processes == 1);
  CHECK(read.samples[0].host.memory_available_bytes.value() > 0);
}

TEST_CASE("Work of others on the same processors is distinguished from the attempt's own",
          "[telemetry][recorder]") {
  const tests::TemporaryDirectory temporary;
  Child idle([] {
    for (;;) ::pause();
  });
  const std::vector<int> cpus{0};
  const auto bound = [] {
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    ::sched_setaffinity(0, sizeof first, &first);
    burn(1e9);
  };
  Child other(bound);
  TelemetryRecorder recorder(20);
  recorder.add({"idle", idle.pid(), {}, cpus, temporary / "idle.csv"});
  recorder.add({"busy", other.pid(), {}, cpus, temporary / "busy.csv"});
  wait_until([&] { return recorder.activity("busy") > 2.5; });
  recorder.remove("idle");
  recorder.remove("busy");
  const auto others = [&](const char* name) {
    std::vector<double> fractions;
    for (const Sample& sample : recorded(temporary / name).samples) {
      if (sample.host.others) fractions.push_back(*sample.host.others);
    }
    REQUIRE_FALSE(fractions.empty());
    return *std::max_element(fractions.begin(), fractions.end());
  };
  CHECK(others("idle.csv") > 0.3);  // the other child, as far as anything lets it
  CHECK(others("idle.csv") > others("busy.csv"));
}

TEST_CASE("GPUs are recorded as the driver reports them", "[telemetry][recorder]") {
  const tests::TemporaryDirectory temporary;
  json gpu = tests::busy_gpu("GPU-1111-aaaa");
  gpu.erase("energy_mJ");
  gpu["energy_rate_mW"] = 250000;
  json idle = tests::busy_gpu("GPU-2222-bbbb");
  idle["utilization"] = 0;
  idle["status"] = 15;  // GPU lost
  const tests::FakeNvml fake(json{{"gpus", {gpu, idle}}});
  Child child([] {
    for (;;) ::pause();
  });
  {
    TelemetryRecorder recorder(50);
    recorder.add({"a", child.pid(), {"GPU-1111-aaaa", "1", "7"}, {}, temporary / "t.csv"});
    wait_until([&] { return recorder.activity("a") > 0.3; });
    recorder.remove("a");
  }
  const auto samples = recorded(temporary / "t.csv").samples;
  REQUIRE(samples.size() > 3);
  REQUIRE(samples[0].gpus.size() == 3);
  CHECK(samples[0].gpus[0].power_w == 450);
  CHECK(samples[0].gpus[0].utilization == 0.97);
  CHECK(samples[0].gpus[0].pcie_received_bytes == 2e9);
  CHECK_FALSE(samples[0].gpus[1].power_w);
  CHECK_FALSE(samples[0].gpus[2].power_w);
  const auto& first = samples.front();
  const auto& last = samples.back();
  CHECK(last.gpus[0].energy_j.value() - first.gpus[0].energy_j.value() ==
        Approx(250 * (last.time_s - first.time_s)).margin(250 * 0.05));
}

TEST_CASE("A driver that hangs holds nobody up", "[telemetry][recorder]") {
  const tests::TemporaryDirectory temporary;
  const auto released = temporary / "released";
  const tests::FakeNvml fake(
      json{{"hang_until", released.string()}, {"gpus", {tests::busy_gpu("GPU-1111-aaaa")}}});
  Child child([] { burn(1e9); });
  {
    TelemetryRecorder recorder(50);
    recorder.add({"a", child.pid(), {"0"}, {}, temporary / "t.csv"});
    wait_until([&] { return recorder.activity("a") > 0.1; });  // includes processor time
    recorder.remove("a");
  }
  CHECK(recorded(temporary / "t.csv").samples.empty());
  std::ofstream(released) << "";
}

TEST_CASE("What cannot be written is lost, and nothing else", "[telemetry][recorder]") {
  const tests::TemporaryDirectory temporary;
  Child child([] { burn(1e9); });
  Child other([] { burn(1e9); });
  TelemetryRecorder recorder(50);
  recorder.add({"full", child.pid(), {}, {}, "/dev/full"});
  recorder.add({"nowhere", other.pid(), {}, {}, temporary / "no/such/directory.csv"});
  const auto before = recorder.activity("full");
  wait_until([&] { return recorder.activity("full") > before + 0.1; });
  recorder.remove("full");
  recorder.remove("nowhere");
  recorder.remove("never added");
}

TEST_CASE("Without recording there is no file, and activity all the same",
          "[telemetry][recorder]") {
  const tests::TemporaryDirectory temporary;
  Child child([] { burn(1e9); });
  TelemetryRecorder recorder(0);
  recorder.add({"a", child.pid(), {}, {}, temporary / "t.csv"});
  wait_until([&] { return recorder.activity("a") > 0.1; });
  recorder.remove("a");
  CHECK_FALSE(std::filesystem::exists(temporary / "t.csv"));
}

TEST_CASE("A link in the file's place is not followed", "[telemetry][recorder]") {
  const tests::TemporaryDirectory temporary;
  std::ofstream(temporary / "precious") << "content";
  std::filesystem::create_symlink(temporary / "precious", temporary / "t.csv");
  Child child([] { burn(1e9); });
  TelemetryRecorder recorder(50);
  recorder.add({"a", child.pid(), {}, {}, temporary / "t.csv"});
  recorder.remove("a");
  CHECK(study::read_file(temporary / "precious") == "content");
}
