#include "runner/telemetry/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bounded_file.h"

namespace doetune::runner {
namespace {

constexpr std::size_t kMaxTelemetryBytes = 64 << 20;
constexpr double kGiB = 1024.0 * 1024 * 1024;
constexpr double kMegabyte = 1e6;
constexpr double kPercent = 100;

using OfHost = std::optional<double> HostSample::*;
using OfGpu = std::optional<double> GpuSample::*;
using Measure = std::optional<double> (*)(const Series&, const TimeWindow&);
using Values = std::vector<double>;

double sum(const Values& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

double mean(const Values& values) { return sum(values) / static_cast<double>(values.size()); }

double maximum(const Values& values) { return *std::max_element(values.begin(), values.end()); }

/// Bits of the reasons that throttle a GPU; idle and user-set clocks are not throttling.
constexpr std::uint64_t kHeat = clock_event::kThermal | clock_event::kHardwareThermal;
constexpr std::uint64_t kPower = clock_event::kPowerCap | clock_event::kPowerBrake;
constexpr std::uint64_t kAnything = kHeat | kPower | clock_event::kHardwareSlowdown;

class Summary {
 public:
  Summary(const Telemetry& telemetry, const TimeWindow& window)
      : samples_(telemetry.samples), window_(window) {}

  std::map<std::string, double> take() { return std::move(values_); }

  void set(const char* name, const std::optional<double>& value, double divisor = 1) {
    if (value && std::isfinite(*value)) values_[name] = *value / divisor;
  }

  std::optional<double> host(Measure measure, OfHost value) const {
    Series series;
    for (const Sample& sample : samples_) {
      if (sample.host.*value) series.push_back({sample.time_s, *(sample.host.*value)});
    }
    return measure(series, window_);
  }

  /// Combined over all GPUs; empty if one does not report.
  std::optional<double> gpus(Measure measure, OfGpu value,
                             double (*together)(const Values&)) const {
    return together_of(together, [&](std::size_t gpu) {
      return measure(series_of(gpu, [&](const GpuSample& sample) { return sample.*value; }),
                     window_);
    });
  }

  /// Fraction of time in which one of the reasons throttled a GPU; the maximum over the GPUs.
  std::optional<double> held_back(std::uint64_t reasons) const {
    return together_of(maximum, [&](std::size_t gpu) {
      const auto held = [&](const GpuSample& sample) -> std::optional<double> {
        if (!sample.clock_events || *sample.clock_events < 0 || *sample.clock_events >= 0x1p53) {
          return std::nullopt;
        }
        return (static_cast<std::uint64_t>(*sample.clock_events) & reasons) != 0 ? 1 : 0;
      };
      return mean_between(series_of(gpu, held), window_);
    });
  }

  /// Joules per second.
  std::optional<double> energy_rate() const {
    return together_of(sum, [&](std::size_t gpu) {
      const auto counted = growth_per_s(
          series_of(gpu, [](const GpuSample& sample) { return sample.energy_j; }), window_);
      if (counted) return counted;
      return mean_between(series_of(gpu, [](const GpuSample& sample) { return sample.power_w; }),
                          window_);
    });
  }

  double samples() const {
    return static_cast<double>(
        std::count_if(samples_.begin(), samples_.end(), [&](const Sample& sample) {
          return sample.time_s >= window_.begin_s && sample.time_s <= window_.end_s;
        }));
  }

 private:
  template <class Value>
  Series series_of(std::size_t gpu, const Value& value) const {
    Series series;
    for (const Sample& sample : samples_) {
      if (const std::optional<double> there = value(sample.gpus[gpu])) {
        series.push_back({sample.time_s, *there});
      }
    }
    return series;
  }

  template <class OfOne>
  std::optional<double> together_of(double (*together)(const Values&), const OfOne& of_one) const {
    Values values;
    const std::size_t gpus = samples_.empty() ? 0 : samples_.front().gpus.size();
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      const std::optional<double> value = of_one(gpu);
      if (!value) return std::nullopt;
      values.push_back(*value);
    }
    if (values.empty()) return std::nullopt;
    return together(values);
  }

  const std::vector<Sample>& samples_;
  TimeWindow window_;
  std::map<std::string, double> values_;
};

std::optional<double> times(const std::optional<double>& value, double factor) {
  if (!value) return std::nullopt;
  return *value * factor;
}

void summarise_gpus(Summary& summary, double window_s, std::optional<double> throughput) {
  const auto power = summary.gpus(mean_between, &GpuSample::power_w, sum);
  summary.set("power", power);
  summary.set("energy", times(summary.energy_rate(), window_s));
  if (power && *power > 0) summary.set("images_per_joule", throughput, *power);
  summary.set("gpu_utilization", summary.gpus(mean_between, &GpuSample::utilization, mean),
              1 / kPercent);
  summary.set("gpu_memory_utilization",
              summary.gpus(mean_between, &GpuSample::memory_utilization, mean), 1 / kPercent);
  summary.set("gpu_memory_peak", summary.gpus(max_reading, &GpuSample::memory_used_bytes, maximum),
              kGiB);
  summary.set("sm_clock", summary.gpus(mean_between, &GpuSample::sm_clock_mhz, mean));
  summary.set("memory_clock", summary.gpus(mean_between, &GpuSample::memory_clock_mhz, mean));
  summary.set("temperature_max", summary.gpus(max_reading, &GpuSample::temperature_c, maximum));
  summary.set("throttled_share", summary.held_back(kAnything));
  summary.set("power_limited_share", summary.held_back(kPower));
  summary.set("thermal_limited_share", summary.held_back(kHeat));
  const auto corrected = summary.gpus(growth_per_s, &GpuSample::ecc_corrected, sum);
  const auto uncorrected = summary.gpus(growth_per_s, &GpuSample::ecc_uncorrected, sum);
  if (corrected && uncorrected) summary.set("ecc_errors", (*corrected + *uncorrected) * window_s);
  const auto rate = [&](const char* name, OfGpu bytes) {
    summary.set(name, summary.gpus(growth_per_s, bytes, sum), kMegabyte);
  };
  rate("pcie_sent_rate", &GpuSample::pcie_sent_bytes);
  rate("pcie_received_rate", &GpuSample::pcie_received_bytes);
  rate("nvlink_sent_rate", &GpuSample::nvlink_sent_bytes);
  rate("nvlink_received_rate", &GpuSample::nvlink_received_bytes);
}

void summarise_host(Summary& summary, double window_s) {
  summary.set("cpu_utilization", summary.host(mean_of_spans, &HostSample::cpu_busy), 1 / kPercent);
  summary.set("cores_used", summary.host(growth_per_s, &HostSample::process_cpu_s));
  summary.set("foreign_cpu_share", summary.host(mean_of_spans, &HostSample::others));
  summary.set("iowait_share", summary.host(mean_of_spans, &HostSample::iowait));
  summary.set("steal_share", summary.host(mean_of_spans, &HostSample::steal));
  summary.set("memory_peak", summary.host(max_reading, &HostSample::resident_bytes), kGiB);
  summary.set("memory_available_min",
              summary.host(min_reading, &HostSample::memory_available_bytes), kGiB);
  summary.set("memory_stall_share", summary.host(growth_per_s, &HostSample::memory_stall_s));
  summary.set("io_stall_share", summary.host(growth_per_s, &HostSample::io_stall_s));
  summary.set("major_faults", summary.host(growth_per_s, &HostSample::major_faults));
  summary.set("read_rate", summary.host(growth_per_s, &HostSample::read_bytes), kMegabyte);
  summary.set("write_rate", summary.host(growth_per_s, &HostSample::written_bytes), kMegabyte);
  const auto voluntary = summary.host(growth_per_s, &HostSample::voluntary_switches);
  const auto involuntary = summary.host(growth_per_s, &HostSample::involuntary_switches);
  if (voluntary && involuntary) summary.set("context_switches", *voluntary + *involuntary);
  summary.set("involuntary_switches", involuntary);
  const auto cpu_power = summary.host(growth_per_s, &HostSample::package_energy_j);
  summary.set("cpu_power", cpu_power);
  summary.set("cpu_energy", times(cpu_power, window_s));
}

}  // namespace

TelemetrySummary summarise(const Telemetry& telemetry, const TimeWindow& window,
                           std::optional<double> throughput) {
  if (telemetry.samples.empty()) return {{}, telemetry.problem};
  if (!(window.length_s() > 0)) return {{}, "the measured window has no length"};
  Summary summary(telemetry, window);
  if (summary.samples() == 0) return {{}, "no reading lies in the measured window"};
  summarise_gpus(summary, window.length_s(), throughput);
  summarise_host(summary, window.length_s());
  summary.set("window", window.length_s());
  summary.set("samples", summary.samples());
  return {summary.take(), ""};
}

TelemetrySummary summarise_file(const std::filesystem::path& file,
                                const std::optional<TimeWindow>& window, double warmup_s,
                                std::optional<double> throughput) {
  const auto text = read_bounded(file, kMaxTelemetryBytes);
  if (!text) return {{}, "telemetry.csv does not exist or is too large"};
  const Telemetry telemetry = parse_telemetry(*text);
  if (telemetry.samples.empty()) return {{}, telemetry.problem};
  const TimeWindow all{telemetry.samples.front().time_s + warmup_s,
                       telemetry.samples.back().time_s};
  return summarise(telemetry, window.value_or(all), throughput);
}

}  // namespace doetune::runner
