#include <catch2/catch.hpp>

#include "runner/launchers/usable_gpus.h"
#include "runner/telemetry/nvml.h"
#include "tests/runner/fake_nvml.h"

using namespace doetune;
using nlohmann::json;
using runner::Nvml;
using tests::busy_gpu;
using tests::FakeNvml;

namespace {

const char* const kFirst = "GPU-11111111-aaaa-bbbb-cccc-000000000001";
const char* const kSecond = "GPU-11111111-aaaa-bbbb-cccc-000000000002";

json two_gpus() {
  return {
      {"driver", "550.54.15"}, {"cuda", 12040}, {"gpus", {busy_gpu(kFirst), busy_gpu(kSecond)}}};
}

}  // namespace

TEST_CASE("A machine without the library has no GPUs, and the reason is reported", "[nvml]") {
  ::setenv("DOETUNE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  const Nvml nvml;
  ::unsetenv("DOETUNE_NVML");
  CHECK(nvml.list_gpus().empty());
  CHECK(nvml.find("0") == nullptr);
  CHECK_FALSE(nvml.driver_version());
  CHECK_FALSE(nvml.cuda_version());
  CHECK_THAT(nvml.problem(), Catch::Contains("/nowhere/libnvidia-ml.so.1"));
}

TEST_CASE("A file that is no library is no driver", "[nvml]") {
  const FakeNvml fake(json::object(), "/etc/passwd");
  const Nvml nvml;
  CHECK(nvml.list_gpus().empty());
  CHECK_FALSE(nvml.problem().empty());
}

TEST_CASE("A library without a driver has no GPUs", "[nvml]") {
  const FakeNvml fake(json{{"init", 9}});
  const Nvml nvml;
  CHECK(nvml.list_gpus().empty());
  CHECK(nvml.problem() == "NVML cannot be started: Driver Not Loaded");
}

TEST_CASE("Each GPU is described as the driver does", "[nvml]") {
  const FakeNvml fake(two_gpus());
  const Nvml nvml;
  CHECK(nvml.problem().empty());
  CHECK(nvml.driver_version() == "550.54.15");
  CHECK(nvml.cuda_version() == "12.4");
  const auto gpus = nvml.list_gpus();
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].index == 0);
  CHECK(gpus[0].uuid == kFirst);
  CHECK(gpus[0].name == "NVIDIA H100 80GB HBM3");
  CHECK(gpus[0].memory_bytes == 80'000'000'000);
  CHECK(gpus[0].persistence == true);
  CHECK(gpus[0].ecc == true);
  CHECK(gpus[0].compute_mode == "default");
  CHECK(gpus[0].power_limit_w == 700);
  CHECK(gpus[0].sm_clock_mhz == 1755);
  CHECK(gpus[0].sm_clock_max_mhz == 1980);
  CHECK(gpus[0].memory_clock_mhz == 2619);
  CHECK(gpus[0].memory_clock_max_mhz == 2619);
  CHECK(gpus[0].processes == std::vector<int>{4711});
  CHECK_FALSE(gpus[0].mig);
  CHECK(gpus[0].instances.empty());
  CHECK(gpus[1].index == 1);
  CHECK(gpus[1].uuid == kSecond);
}

TEST_CASE("Readings come in the units they are named by", "[nvml]") {
  const FakeNvml fake(two_gpus());
  const Nvml nvml;
  const auto* gpu = nvml.find("1");
  REQUIRE(gpu != nullptr);
  const auto reading = nvml.read(*gpu);
  CHECK(reading.utilization.value() == Approx(0.97));
  CHECK(reading.memory_utilization.value() == Approx(0.41));
  CHECK(reading.memory_used_bytes == 19.5e9);
  CHECK(reading.power_w == 450);  // instantaneous, not the mean of the last second
  CHECK(reading.energy_j.value() == Approx(1234.567));
  CHECK(reading.sm_clock_mhz == 1755);
  CHECK(reading.memory_clock_mhz == 2619);
  CHECK(reading.temperature_c == 61);
  CHECK(reading.clock_events == runner::clock_event::kPowerCap);
  const auto counters = nvml.read_counters(*gpu);
  CHECK(counters.ecc_corrected == 3);
  CHECK(counters.ecc_uncorrected == 0);
  CHECK(counters.pcie_sent_bytes == 1e9);
  CHECK(counters.pcie_received_bytes == 2e9);
  CHECK(counters.nvlink_sent_bytes == 10 * 1024);
  CHECK(counters.nvlink_received_bytes == 20 * 1024);
}

TEST_CASE("What a device does not support is empty, and only that", "[nvml]") {
  json machine = two_gpus();
  for (const char* key : {"power_now_mW", "utilization", "nvlink_sent_KiB", "persistence"}) {
    machine["gpus"][0].erase(key);
  }
  const FakeNvml fake(machine);
  const Nvml nvml;
  CHECK_FALSE(nvml.list_gpus()[0].persistence);
  const auto reading = nvml.read(*nvml.find("0"));
  CHECK_FALSE(reading.utilization);
  CHECK_FALSE(reading.memory_utilization);
  CHECK(reading.power_w == 402);  // the mean of a second, if there is no other
  const auto counters = nvml.read_counters(*nvml.find("0"));
  CHECK_FALSE(counters.nvlink_sent_bytes);
  CHECK(counters.nvlink_received_bytes == 20 * 1024);
  CHECK(nvml.read(*nvml.find("1")).utilization);
}

TEST_CASE("An older driver lacks functions, and the rest is read", "[nvml]") {
  const FakeNvml fake(two_gpus(), FAKE_OLD_NVML_LIBRARY);
  const Nvml nvml;
  const auto gpus = nvml.list_gpus();
  REQUIRE(gpus.size() == 2);
  CHECK(gpus[0].processes.empty());
  const auto reading = nvml.read(*nvml.find("0"));
  CHECK(reading.memory_used_bytes == 20e9);
  CHECK(reading.power_w == 402);
  CHECK(reading.clock_events == runner::clock_event::kPowerCap);  // under its older name
  CHECK_FALSE(nvml.read_counters(*nvml.find("0")).pcie_sent_bytes);
  CHECK(nvml.read_counters(*nvml.find("0")).ecc_corrected == 3);
}

TEST_CASE("A GPU that is lost takes no other with it", "[nvml]") {
  json machine = two_gpus();
  SECTION("before it is listed") {
    machine["gpus"][0]["handle"] = 15;
    const FakeNvml fake(machine);
    const Nvml nvml;
    REQUIRE(nvml.list_gpus().size() == 1);
    CHECK(nvml.list_gpus()[0].index == 1);
    CHECK(nvml.problem() == "GPU 0 cannot be used: GPU is lost");
    CHECK(nvml.find("0") == nullptr);
    CHECK(nvml.find("1") != nullptr);
  }
  SECTION("while it is read") {
    machine["gpus"][0]["status"] = 15;
    const FakeNvml fake(machine);
    const Nvml nvml;
    CHECK(nvml.list_gpus().size() == 2);
    CHECK_FALSE(nvml.read(*nvml.find("0")).power_w);
    CHECK_FALSE(nvml.read_counters(*nvml.find("0")).pcie_sent_bytes);
    CHECK(nvml.read(*nvml.find("1")).power_w == 450);
  }
}

TEST_CASE("In MIG mode the instances are the devices", "[nvml]") {
  json machine = two_gpus();
  machine["gpus"][1]["mig"] = 1;
  machine["gpus"][1]["max_instances"] = 7;
  machine["gpus"][1]["instances"] = {
      {{"uuid", "MIG-aaaa"}, {"name", "1g.10gb"}, {"memory", 10e9}, {"memory_used", 1e9}},
      json::object(),  // indices may have gaps
      {{"uuid", "MIG-bbbb"}, {"name", "1g.10gb"}, {"memory", 10e9}, {"memory_used", 2e9}}};
  const FakeNvml fake(machine);
  const Nvml nvml;
  const auto gpus = nvml.list_gpus();
  REQUIRE(gpus.size() == 2);
  CHECK_FALSE(gpus[0].mig);
  CHECK(gpus[1].mig);
  REQUIRE(gpus[1].instances.size() == 2);
  CHECK(gpus[1].instances[1].uuid == "MIG-bbbb");
  CHECK(gpus[1].instances[1].memory_bytes == 10'000'000'000);
  const auto reading = nvml.read(*nvml.find("MIG-bbbb"));
  CHECK(reading.memory_used_bytes == 2e9);
  CHECK_FALSE(reading.power_w);
}

TEST_CASE("A device is found as CUDA_VISIBLE_DEVICES names it", "[nvml]") {
  json machine = two_gpus();
  machine["gpus"][1]["uuid"] = "GPU-22222222-aaaa";
  const FakeNvml fake(machine);
  const Nvml nvml;
  CHECK(nvml.find("GPU-2") == nvml.find("1"));
  CHECK(nvml.find(kFirst) == nvml.find("0"));
  CHECK(nvml.find("GPU-") == nullptr);
  CHECK(nvml.find("2") == nullptr);
  CHECK(nvml.find("") == nullptr);
}

TEST_CASE("A prefix that fits two devices names neither", "[nvml]") {
  const FakeNvml fake(two_gpus());
  const Nvml nvml;
  CHECK(nvml.find("GPU-11111111") == nullptr);
  CHECK(nvml.find(kSecond) == nvml.find("1"));
}

TEST_CASE("All processes on a GPU are listed, however many", "[nvml]") {
  json machine = two_gpus();
  machine["gpus"][0]["processes"] = json::array();
  for (int pid = 1; pid <= 300; ++pid) machine["gpus"][0]["processes"].push_back(pid);
  const FakeNvml fake(machine);
  CHECK(Nvml().list_gpus()[0].processes.size() == 300);
}

TEST_CASE("Runs are given GPUs by UUID, as far as this process may see them", "[nvml][slots]") {
  const auto usable_if = [](const char* visible) {
    visible == nullptr ? ::unsetenv("CUDA_VISIBLE_DEVICES")
                       : ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    auto usable = runner::usable_gpus();
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    return usable;
  };
  using Ids = std::vector<std::string>;
  const FakeNvml fake(two_gpus());
  CHECK(usable_if(nullptr).ids == Ids{kFirst, kSecond});
  CHECK(usable_if(kSecond).ids == Ids{kSecond});
  CHECK(usable_if("GPU-11111111-aaaa-bbbb-cccc-000000000001,GPU-11").ids == Ids{kFirst, kSecond});
  CHECK(usable_if("1").ids == Ids{"1"});  // CUDA's index, which may differ from NVML's
  CHECK(usable_if("").ids.empty());
  CHECK(usable_if("").problem == "CUDA_VISIBLE_DEVICES is empty");
}

TEST_CASE("Without NVML a run is given what the environment names, or there is nothing to give",
          "[nvml][slots]") {
  ::setenv("DOETUNE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  ::setenv("CUDA_VISIBLE_DEVICES", "0,1", 1);
  CHECK(runner::usable_gpus().ids == std::vector<std::string>{"0", "1"});
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(runner::usable_gpus().ids.empty());
  CHECK_THAT(runner::usable_gpus().problem, Catch::Contains("/nowhere"));
  ::unsetenv("DOETUNE_NVML");
}
