// Measurement and caching of PeakRates, and the roofline fraction of a network.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "workloads/peak_rates/peak_rates.h"
#include "workloads/timing/roofline.h"

using namespace doetune;
using namespace doetune::workloads;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("doetune-ceilings-" + std::to_string(getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The single file that ends with .json.
fs::path kept_file(const fs::path& folder) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".json") {
      REQUIRE(found.empty());
      found = entry.path();
    }
  REQUIRE_FALSE(found.empty());
  return found;
}

bool is_good(const std::string& text) { return text.starts_with("good"); }

}  // namespace

TEST_CASE("a text is made once and kept", "[cache]") {
  const Folder folder;
  int made = 0;
  const auto make = [&] { return "good " + std::to_string(++made); };
  CHECK(kept_text(folder.path, "a", is_good, make) == "good 1");
  CHECK(kept_text(folder.path, "a", is_good, make) == "good 1");
  CHECK(kept_text(folder.path, "b", is_good, make) == "good 2");
  CHECK(kept_text(folder.path, "a", is_good, make, Renewal::always) == "good 3");
  CHECK(text_of(folder.path / "a") == "good 3");
}

TEST_CASE("a damaged text is made anew", "[cache]") {
  const Folder folder;
  fs::create_directories(folder.path);
  for (const char* damaged : {"", "goo", "bad"}) {
    std::ofstream(folder.path / "a") << damaged;
    CHECK(kept_text(folder.path, "a", is_good, [] { return std::string("good"); }) == "good");
    CHECK(text_of(folder.path / "a") == "good");
  }
}

TEST_CASE("where nothing can be kept the text is made all the same", "[cache]") {
  const auto make = [] { return std::string("good"); };
  CHECK(kept_text({}, "a", is_good, make) == "good");
  CHECK(kept_text("/dev/null/nowhere", "a", is_good, make) == "good");
}

TEST_CASE("of many that ask at once one makes the text", "[cache]") {
  const Folder folder;
  std::atomic<int> made = 0;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      good += is_good(kept_text(folder.path, "a", is_good, [&] {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        return std::string("good");
      }));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(made == 1);
  CHECK(good == 8);
  for (const auto& entry : fs::directory_iterator(folder.path))
    CHECK(entry.path().extension() != ".partial");
}

TEST_CASE("peak rates are measured once, kept by device, and measured again where damaged",
          "[ceilings]") {
  const Folder folder;
  const auto measured = [&] { return peak_rates_of("cpu", Precision::fp32, 1, folder.path); };
  const PeakRates first = measured();
  CHECK(first.operations_per_s > 1e8);  // slower than any processor of this century
  CHECK(first.bytes_per_s > 1e8);
  const fs::path file = kept_file(folder.path);
  auto json = nlohmann::json::parse(text_of(file));
  CHECK(json["operations_per_s"] == first.operations_per_s);
  CHECK(json["bytes_per_s"] == first.bytes_per_s);

  json["operations_per_s"] = 12345;
  std::ofstream(file) << json;
  CHECK(measured().operations_per_s == 12345);  // the cached value is used

  json["bytes_per_s"] = -1;
  std::ofstream(file) << json;
  CHECK(measured().operations_per_s > 1e8);
  CHECK(nlohmann::json::parse(text_of(file))["bytes_per_s"] > 1e8);
}

TEST_CASE("what is not a peak rate of this device is not taken", "[ceilings]") {
  const nlohmann::json good{
      {"doetune_ceilings", 1}, {"key", "a"}, {"operations_per_s", 2.0}, {"bytes_per_s", 3.0}};
  const auto taken = kept_peak_rates(good.dump(), "a");
  REQUIRE(taken);
  CHECK(taken->operations_per_s == 2);
  CHECK(taken->bytes_per_s == 3);
  CHECK_FALSE(kept_peak_rates(good.dump(), "an abacus"));
  const std::string whole = good.dump();
  for (std::size_t length = 0; length < whole.size(); ++length)
    CHECK_FALSE(kept_peak_rates(whole.substr(0, length), "a"));
  for (const auto& [name, value] : good.items()) {
    CAPTURE(name);
    for (const nlohmann::json& wrong :
         {nlohmann::json(), nlohmann::json("x"), nlohmann::json(-1), nlohmann::json(0),
          nlohmann::json::array({1}), nlohmann::json::object()}) {
      nlohmann::json damaged = good;
      damaged[name] = wrong;
      CHECK_FALSE(kept_peak_rates(damaged.dump(), "a"));
    }
  }
}

TEST_CASE("a precision that the device lacks has no peak rates, and keeps none", "[ceilings]") {
  const Folder folder;
  CHECK_THROWS_AS(peak_rates_of("cpu", Precision::fp16, 1, folder.path), CannotRun);
  CHECK_THROWS_AS(peak_rates_of("cpu", Precision::fp16, 1, folder.path),
                  CannotRun);  // no lock left
}

TEST_CASE("a network at its roofline has the fraction 1, at half the rate 0.5", "[ceilings]") {
  const PeakRates peak_rates{1e12, 5e10};
  const Network network = make_network("resnet-50", 224);
  const double best = 1 / roofline_seconds(network, 8, 4, peak_rates);
  CHECK(roofline_fraction(network, 8, Precision::fp32, best, peak_rates) == Approx(1));
  CHECK(roofline_fraction(network, 8, Precision::fp32, best / 2, peak_rates) == Approx(0.5));
  // bf16 moves half the bytes, so the same rate is a smaller fraction of the roofline.
  CHECK(roofline_fraction(network, 8, Precision::bf16, best, peak_rates) < 1);
}

TEST_CASE("the fraction of a result follows its throughput, over all devices", "[ceilings]") {
  const PeakRates peak_rates{1e12, 5e10};
  const Network network = make_network("alexnet", 224);
  const double best = 1 / roofline_seconds(network, 4, 4, peak_rates);
  Result result;
  result.responses["throughput"] = best;
  result.repeats["throughput"] = {best / 2, 3 * best / 2};
  result.precision["throughput"] = 0.03;
  add_roofline_fraction(peak_rates, network, 4, Precision::fp32, 2, result);
  CHECK(result.responses["roofline_fraction"] == Approx(0.5));
  CHECK(result.repeats["roofline_fraction"][0] == Approx(0.25));
  CHECK(result.repeats["roofline_fraction"][1] == Approx(0.75));
  CHECK(result.precision["roofline_fraction"] == 0.03);

  Result without;
  add_roofline_fraction(std::nullopt, network, 4, Precision::fp32, 1, without);
  CHECK(without.responses.empty());
  CHECK(without.notes.contains("roofline_fraction"));
}
