// Telemetry summaries against closed-form integrals, and bottlenecks.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <set>

#include "runner/telemetry/bottleneck.h"
#include "runner/telemetry/summary.h"
#include "study/telemetry_quantities.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using runner::Facts;
using runner::Sample;
using runner::Series;
using runner::Telemetry;
using runner::TimeWindow;

namespace {

/// Readings at 10 Hz with slightly irregular intervals.
template <class Function>
Series series_of(double from_s, double to_s, const Function& function) {
  Series series;
  for (int i = 0; from_s + 0.1 * i <= to_s; ++i) {
    const double time_s = from_s + 0.1 * i + 0.03 * std::sin(7.0 * i);
    series.push_back({time_s, function(time_s)});
  }
  return series;
}

/// Telemetry of `gpus` GPUs from time 0 to `to_s`, filled by `fill(sample)`.
template <class Fill>
Telemetry telemetry_of(double to_s, std::size_t gpus, const Fill& fill) {
  Telemetry telemetry;
  for (int i = 0; 0.1 * i <= to_s; ++i) {
    Sample sample{0.1 * i, {}, std::vector<runner::GpuSample>(gpus)};
    fill(sample);
    telemetry.samples.push_back(std::move(sample));
  }
  return telemetry;
}

double value(const runner::TelemetrySummary& summary, const std::string& name) {
  CAPTURE(name, summary.problem);
  REQUIRE(summary.values.count(name) == 1);
  return summary.values.at(name);
}

}  // namespace

TEST_CASE("Readings joined by lines give a line's mean exactly, wherever the window lies",
          "[telemetry][summary]") {
  const auto line = [](double t) { return 250 + 12.5 * t; };
  const Series series = series_of(0, 20, line);
  for (const TimeWindow& window : {TimeWindow{3.21, 17.77}, {1, 2}, {5.555, 5.666}}) {
    const double middle = (window.begin_s + window.end_s) / 2;
    CHECK(runner::mean_between(series, window).value() == Approx(line(middle)).epsilon(1e-12));
  }
}

TEST_CASE("The integral of what swings comes close to its closed form", "[telemetry][summary]") {
  // Error of the trapezoidal rule: h^2 / 12 max|f''| per second, with h = 0.16, f'' = 100 * 4.
  const Series series = series_of(0, 20, [](double t) { return 300 + 100 * std::sin(2 * t); });
  const TimeWindow window{2, 14.5};
  const double integral = 300 * 12.5 - 50 * (std::cos(29.0) - std::cos(4.0));
  const double bound = 0.16 * 0.16 / 12 * 400;
  CHECK(std::abs(runner::mean_between(series, window).value() - integral / 12.5) < bound);
}

TEST_CASE("A counter's growth is interpolated at the ends of the window", "[telemetry][summary]") {
  // Readings once a second of a counter that grows by 40 per second.
  Series counter;
  for (int i = 0; i <= 10; ++i) counter.push_back({i + 0.5, 1000 + 40.0 * i});
  CHECK(runner::growth_per_s(counter, {2.25, 7.1}).value() == Approx(40));
  // Piecewise: constant until 5.5, then 100 per second.
  Series step;
  for (int i = 0; i <= 10; ++i) step.push_back({i + 0.5, i <= 5 ? 0 : 100.0 * (i - 5)});
  CHECK(runner::growth_per_s(step, {4.5, 7.0}).value() == Approx(150 / 2.5));
}

TEST_CASE("A counter that falls began anew", "[telemetry][summary]") {
  const Series counter{{0, 100}, {1, 200}, {2, 50}, {3, 150}};
  CHECK(runner::growth_per_s(counter, {0, 3}).value() == Approx(200.0 / 3));
}

TEST_CASE("A fraction refers to the time before its reading", "[telemetry][summary]") {
  const Series fractions{{0, 0.9}, {1, 0.2}, {3, 0.8}};  // 0.2 from 0 to 1, 0.8 from 1 to 3
  CHECK(runner::mean_of_spans(fractions, {0, 3}).value() == Approx((0.2 + 1.6) / 3));
  CHECK(runner::mean_of_spans(fractions, {0.5, 2}).value() == Approx((0.1 + 0.8) / 1.5));
}

TEST_CASE("Readings must cover half of the window", "[telemetry][summary]") {
  const Series series{{0, 1}, {1, 1}};
  CHECK(runner::mean_between(series, {0, 2}) == 1);
  CHECK_FALSE(runner::mean_between(series, {0, 2.1}));
  CHECK_FALSE(runner::mean_between(series, {5, 6}));
  CHECK_FALSE(runner::mean_between({{0.5, 1}}, {0, 1}));
  CHECK_FALSE(runner::mean_between({}, {0, 1}));
  CHECK_FALSE(runner::growth_per_s(series, {0, 0}));
  CHECK_FALSE(runner::max_reading(series, {2, 3}));
}

TEST_CASE("Energy is the counter's growth, or the integral of power", "[telemetry][summary]") {
  const TimeWindow window{2.5, 12.5};
  const auto power = [](double t) { return 200 + 10 * t; };
  const double expected_j = 10 * power(7.5);
  const auto with_counter = telemetry_of(15, 1, [&](Sample& sample) {
    sample.gpus[0].power_w = 1;  // irrelevant here
    sample.gpus[0].energy_j = 1e6 + 200 * sample.time_s + 5 * sample.time_s * sample.time_s;
  });
  CHECK(value(runner::summarise(with_counter, window), "energy") == Approx(expected_j));
  const auto without =
      telemetry_of(15, 1, [&](Sample& sample) { sample.gpus[0].power_w = power(sample.time_s); });
  const auto summary = runner::summarise(without, window, 5500.0);
  CHECK(value(summary, "energy") == Approx(expected_j));
  CHECK(value(summary, "power") == Approx(expected_j / 10));
  CHECK(value(summary, "images_per_joule") == Approx(5500 / (expected_j / 10)));
}

TEST_CASE("GPUs are added up or averaged, and a silent one spoils the sum",
          "[telemetry][summary]") {
  auto telemetry = telemetry_of(10, 2, [](Sample& sample) {
    for (std::size_t g = 0; g < 2; ++g) {
      auto& gpu = sample.gpus[g];
      const auto n = static_cast<double>(g + 1);
      gpu.power_w = 100 * n;
      gpu.utilization = 0.4 * n;
      gpu.memory_used_bytes = n * 1024 * 1024 * 1024 + (sample.time_s < 1 ? 1e12 : 0);
      gpu.temperature_c = 50 + n;
      gpu.sm_clock_mhz = 1000 * n;
      gpu.ecc_corrected = sample.time_s >= 5 ? 3 : 0;
      gpu.ecc_uncorrected = 0;
      gpu.pcie_sent_bytes = 1e6 * n * sample.time_s;
      // The second is throttled by power from 4 to 8; the first has clocks set by the user
      // throughout.
      const bool limited = g == 1 && sample.time_s >= 4 && sample.time_s < 8;
      gpu.clock_events = static_cast<double>(limited ? runner::clock_event::kPowerCap
                                                     : runner::clock_event::kApplicationClocks);
    }
  });
  const auto summary = runner::summarise(telemetry, {2, 10});
  CHECK(value(summary, "power") == Approx(300));
  CHECK(value(summary, "energy") == Approx(300 * 8));
  CHECK(value(summary, "gpu_utilization") == Approx(60));
  CHECK(value(summary, "gpu_memory_peak") == Approx(2));
  CHECK(value(summary, "temperature_max") == 52);
  CHECK(value(summary, "sm_clock") == Approx(1500));
  CHECK(value(summary, "ecc_errors") == Approx(6));
  CHECK(value(summary, "pcie_sent_rate") == Approx(3));
  CHECK(value(summary, "throttled_share") == Approx(0.5).margin(0.02));
  CHECK(value(summary, "power_limited_share") == Approx(0.5).margin(0.02));
  CHECK(value(summary, "thermal_limited_share") == 0);
  CHECK(summary.values.count("nvlink_sent_rate") == 0);
  for (Sample& sample : telemetry.samples) sample.gpus[1].power_w.reset();
  CHECK(runner::summarise(telemetry, {2, 10}).values.count("power") == 0);
}

TEST_CASE("The host's quantities come in the units they are named by", "[telemetry][summary]") {
  const auto telemetry = telemetry_of(10, 0, [](Sample& sample) {
    auto& host = sample.host;
    host.cpu_busy = 0.75;
    host.iowait = 0.05;
    host.steal = 0.01;
    host.others = 0.1;
    host.process_cpu_s = 2.5 * sample.time_s;
    host.resident_bytes = 1024.0 * 1024 * 1024 * (sample.time_s < 5 ? 3 : 1);
    host.memory_available_bytes = 1024.0 * 1024 * 1024 * (20 - sample.time_s);
    host.memory_stall_s = 0.02 * sample.time_s;
    host.io_stall_s = 0.03 * sample.time_s;
    host.major_faults = 7 * sample.time_s;
    host.read_bytes = 4e6 * sample.time_s;
    host.written_bytes = 5e6 * sample.time_s;
    host.voluntary_switches = 100 * sample.time_s;
    host.involuntary_switches = 11 * sample.time_s;
    host.package_energy_j = 60 * sample.time_s;
  });
  const auto summary = runner::summarise(telemetry, {1, 9});
  for (const auto& [name, expected] : std::map<std::string, double>{{"cpu_utilization", 75},
                                                                    {"iowait_share", 0.05},
                                                                    {"steal_share", 0.01},
                                                                    {"foreign_cpu_share", 0.1},
                                                                    {"cores_used", 2.5},
                                                                    {"memory_peak", 3},
                                                                    {"memory_available_min", 11},
                                                                    {"memory_stall_share", 0.02},
                                                                    {"io_stall_share", 0.03},
                                                                    {"major_faults", 7},
                                                                    {"read_rate", 4},
                                                                    {"write_rate", 5},
                                                                    {"context_switches", 111},
                                                                    {"involuntary_switches", 11},
                                                                    {"cpu_power", 60},
                                                                    {"cpu_energy", 480},
                                                                    {"window", 8}}) {
    CHECK(value(summary, name) == Approx(expected));
  }
  CHECK(value(summary, "samples") == Approx(81).margin(1));
  CHECK(summary.values.count("power") == 0);
}

TEST_CASE("Every quantity of a summary is in the table, with a unit", "[telemetry][summary]") {
  const auto telemetry = telemetry_of(10, 1, [](Sample& sample) {
    for (const auto& column : runner::host_columns()) sample.host.*column.value = sample.time_s;
    for (const auto& column : runner::gpu_columns()) {
      sample.gpus[0].*column.value = sample.time_s;
    }
  });
  std::set<std::string> named;
  for (const auto& [name, number] : runner::summarise(telemetry, {1, 9}, 1.0).values) {
    CAPTURE(name);
    CHECK(study::find_quantity(name) != nullptr);
    named.insert(name);
  }
  for (const auto& quantity : study::telemetry_quantities()) {
    CAPTURE(quantity.name);
    CHECK(named.count(std::string(quantity.name)) == 1);  // every documented quantity exists
    CHECK_FALSE(quantity.unit.empty());
    CHECK_FALSE(quantity.description.empty());
  }
  CHECK(study::find_quantity("nonsense") == nullptr);
}

TEST_CASE("A summary of nothing says why", "[telemetry][summary]") {
  const tests::TemporaryDirectory temporary;
  const auto problem = [&](const std::optional<TimeWindow>& window, double warmup_s = 0) {
    const auto summary = runner::summarise_file(temporary / "t.csv", window, warmup_s);
    CHECK(summary.values.empty());
    return summary.problem;
  };
  CHECK_THAT(problem({}), Catch::Contains("does not exist"));
  std::ofstream(temporary / "t.csv") << "garbage\n\0\n";
  CHECK_THAT(problem({}), Catch::Contains("columns"));
  std::ofstream(temporary / "t.csv") << runner::telemetry_header(0);
  CHECK_THAT(problem({}), Catch::Contains("no samples"));
  std::string text = runner::telemetry_header(0);
  for (const double time_s : {1.0, 2.0, 3.0}) runner::append_line(text, {time_s, {}, {}});
  std::ofstream(temporary / "t.csv") << text;
  CHECK_THAT(problem(TimeWindow{5, 6}), Catch::Contains("no reading lies in"));
  CHECK_THAT(problem(TimeWindow{2, 2}), Catch::Contains("no length"));
  CHECK_THAT(problem(TimeWindow{2, std::nan("")}), Catch::Contains("no length"));
  CHECK_THAT(problem({}, 10), Catch::Contains("no length"));
  const auto whole = runner::summarise_file(temporary / "t.csv", {}, 0.5);
  CHECK(value(whole, "samples") == 2);
  CHECK(value(whole, "window") == Approx(1.5));
}

TEST_CASE("Each rule of the verdict decides where its facts say so", "[telemetry][verdict]") {
  const std::map<std::string, std::pair<Facts, std::string>> expected{
      {"memory", {{{"memory_stall_share", 0.32}}, "waited for memory for 32 %"}},
      {"thermal_limited",
       {{{"thermal_limited_share", 0.3}, {"temperature_max", 87}},
        "for 30 % of the time, at 87 C"}},
      {"power_limited",
       {{{"power_limited_share", 0.8}, {"power", 699.6}, {"gpu_utilization", 99}},
        "for 80 % of the time, at 700 W"}},
      {"gpu_memory_bandwidth",
       {{{"gpu_utilization", 97}, {"gpu_memory_utilization", 88}}, "accessed for 88 %"}},
      {"gpu_compute",
       {{{"gpu_utilization", 97}, {"gpu_memory_utilization", 40}, {"cpu_utilization", 99}},
        "the GPU was 97 % busy, its memory was accessed for 40 %"}},
      {"decode", {{{"cpu_utilization", 95}, {"decode_share", 0.7}}, "70 % of the work decoding"}},
      {"host_cpu",
       {{{"cpu_utilization", 97}, {"gpu_utilization", 31}},
        "the assigned cores were 97 % busy while the GPU was 31 % busy"}},
      {"io", {{{"iowait_share", 0.4}, {"cpu_utilization", 30}}, "waited for a disk for 40 %"}},
      {"launch_bound",
       {{{"gpu_utilization", 45}, {"cores_used", 1.02}, {"cpu_utilization", 13}},
        "kept 1.0 cores busy while the GPU was 45 % busy"}},
  };
  std::set<std::string> seen;
  for (const auto& rule : runner::bottleneck_rules()) {
    const std::string name(rule.bottleneck);
    CAPTURE(name);
    seen.insert(name);
    REQUIRE(expected.count(name) == 1);
    const auto& [facts, evidence] = expected.at(name);
    const auto verdict = runner::find_bottleneck(facts);
    CHECK(verdict.bottleneck == name);
    CHECK_THAT(verdict.evidence, Catch::Contains(evidence));
    CHECK_FALSE(rule.condition.empty());
  }
  CHECK(seen.size() == expected.size());
}

TEST_CASE("Where nothing is near its limit, or nothing is known, no bottleneck is named",
          "[telemetry][verdict]") {
  CHECK(runner::find_bottleneck({}).bottleneck == "none_found");
  CHECK(runner::find_bottleneck({}).evidence == "nothing measured was near its limit");
  const auto verdict = runner::find_bottleneck({{"cpu_utilization", 40}, {"gpu_utilization", 30}});
  CHECK(verdict.bottleneck == "none_found");
  CHECK(verdict.evidence ==
        "nothing measured was near its limit: the assigned cores were 40 % busy, "
        "the GPU was 30 % busy");
}

TEST_CASE("Cores that others kept busy are distinguished from the run's own",
          "[telemetry][verdict]") {
  const auto verdict =
      runner::find_bottleneck({{"cpu_utilization", 99}, {"foreign_cpu_share", 0.32}});
  CHECK(verdict.bottleneck == "host_cpu");
  CHECK(verdict.evidence == "the assigned cores were 99 % busy (32 % by other programs)");
  // A program that sleeps while others compute is not limited by the processors.
  CHECK(
      runner::find_bottleneck({{"cpu_utilization", 99}, {"foreign_cpu_share", 0.72}}).bottleneck ==
      "none_found");
}

TEST_CASE("Causes come before what they slow down", "[telemetry][verdict]") {
  Facts facts{{"gpu_utilization", 99}, {"gpu_memory_utilization", 95}, {"cpu_utilization", 99}};
  CHECK(runner::find_bottleneck(facts).bottleneck == "gpu_memory_bandwidth");
  facts["power_limited_share"] = 0.9;
  CHECK(runner::find_bottleneck(facts).bottleneck == "power_limited");
  facts["thermal_limited_share"] = 0.2;
  CHECK(runner::find_bottleneck(facts).bottleneck == "thermal_limited");
}

TEST_CASE("A disturbed run is flagged with numbers, a quiet one is not", "[telemetry][verdict]") {
  CHECK(runner::find_bottleneck({{"foreign_cpu_share", 0.01},
                                 {"steal_share", 0},
                                 {"throttled_share", 0},
                                 {"ecc_errors", 0},
                                 {"samples", 100}})
            .disturbances.empty());
  const auto disturbed = runner::find_bottleneck({{"foreign_cpu_share", 0.23},
                                                  {"steal_share", 0.05},
                                                  {"throttled_share", 0.3},
                                                  {"ecc_errors", 2},
                                                  {"samples", 4}})
                             .disturbances;
  CHECK(disturbed ==
        std::vector<std::string>{"other programs used 23 % of the assigned cores",
                                 "the hypervisor took 5 % of the time of the assigned cores",
                                 "the GPU was throttled for 30 % of the time",
                                 "the GPU had 2 memory errors"});
}
