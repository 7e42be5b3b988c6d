#include "runner/telemetry/sample.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

namespace doetune::runner {
namespace {

constexpr std::array kHostColumns{
    Column<HostSample>{"cpu_busy_share", &HostSample::cpu_busy},
    Column<HostSample>{"iowait_share", &HostSample::iowait},
    Column<HostSample>{"steal_share", &HostSample::steal},
    Column<HostSample>{"others_share", &HostSample::others},
    Column<HostSample>{"processes", &HostSample::processes},
    Column<HostSample>{"process_cpu_s", &HostSample::process_cpu_s},
    Column<HostSample>{"process_resident_B", &HostSample::resident_bytes},
    Column<HostSample>{"process_read_B", &HostSample::read_bytes},
    Column<HostSample>{"process_written_B", &HostSample::written_bytes},
    Column<HostSample>{"process_major_faults", &HostSample::major_faults},
    Column<HostSample>{"process_voluntary_switches", &HostSample::voluntary_switches},
    Column<HostSample>{"process_involuntary_switches", &HostSample::involuntary_switches},
    Column<HostSample>{"memory_available_B", &HostSample::memory_available_bytes},
    Column<HostSample>{"swap_used_B", &HostSample::swap_used_bytes},
    Column<HostSample>{"memory_stall_s", &HostSample::memory_stall_s},
    Column<HostSample>{"io_stall_s", &HostSample::io_stall_s},
    Column<HostSample>{"cpu_energy_J", &HostSample::package_energy_j}};

constexpr std::array kGpuColumns{
    Column<GpuSample>{"utilization_share", &GpuSample::utilization},
    Column<GpuSample>{"memory_utilization_share", &GpuSample::memory_utilization},
    Column<GpuSample>{"memory_used_B", &GpuSample::memory_used_bytes},
    Column<GpuSample>{"power_W", &GpuSample::power_w},
    Column<GpuSample>{"energy_J", &GpuSample::energy_j},
    Column<GpuSample>{"sm_clock_MHz", &GpuSample::sm_clock_mhz},
    Column<GpuSample>{"memory_clock_MHz", &GpuSample::memory_clock_mhz},
    Column<GpuSample>{"temperature_C", &GpuSample::temperature_c},
    Column<GpuSample>{"clock_events", &GpuSample::clock_events},
    Column<GpuSample>{"ecc_corrected", &GpuSample::ecc_corrected},
    Column<GpuSample>{"ecc_uncorrected", &GpuSample::ecc_uncorrected},
    Column<GpuSample>{"pcie_sent_B", &GpuSample::pcie_sent_bytes},
    Column<GpuSample>{"pcie_received_B", &GpuSample::pcie_received_bytes},
    Column<GpuSample>{"nvlink_sent_B", &GpuSample::nvlink_sent_bytes},
    Column<GpuSample>{"nvlink_received_B", &GpuSample::nvlink_received_bytes}};

constexpr std::size_t kMaxGpus = 64;

/// Appends the shortest exact text of a number; values below 1e6 are rounded to 6 decimals.
void append_cell(std::string& text, const std::optional<double>& value) {
  text += ',';
  if (!value) return;
  const double rounded = std::abs(*value) < 1e6 ? std::round(*value * 1e6) / 1e6 : *value;
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}"), rounded);
}

/// False for a text that is not a finite number; an empty text is a missing value.
bool read_cell(std::string_view text, std::optional<double>& value) {
  if (text.empty()) return true;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return false;
  }
  value = number;
  return true;
}

/// Iterates over the cells of a line.
class Cells {
 public:
  explicit Cells(std::string_view line) : rest_(line) {}

  bool read(std::optional<double>& value) {
    if (at_end_) return false;
    const std::size_t comma = rest_.find(',');
    at_end_ = comma == std::string_view::npos;
    const std::string_view cell = rest_.substr(0, comma);
    if (!at_end_) rest_.remove_prefix(comma + 1);
    return read_cell(cell, value);
  }
  bool at_end() const { return at_end_; }

 private:
  std::string_view rest_;
  bool at_end_ = false;
};

std::optional<Sample> parse_line(std::string_view line, std::size_t gpus) {
  Cells cells(line);
  std::optional<double> time_s;
  if (!cells.read(time_s) || !time_s) return std::nullopt;
  Sample sample{*time_s, {}, std::vector<GpuSample>(gpus)};
  for (const auto& column : kHostColumns) {
    if (!cells.read(sample.host.*column.value)) return std::nullopt;
  }
  for (GpuSample& gpu : sample.gpus) {
    for (const auto& column : kGpuColumns) {
      if (!cells.read(gpu.*column.value)) return std::nullopt;
    }
  }
  if (!cells.at_end()) return std::nullopt;
  return sample;
}

/// The number of GPUs in a header line.
std::optional<std::size_t> gpus_in(std::string_view header) {
  const auto commas = static_cast<std::size_t>(std::count(header.begin(), header.end(), ','));
  const std::size_t gpus = (commas - std::min(commas, kHostColumns.size())) / kGpuColumns.size();
  if (gpus > kMaxGpus) return std::nullopt;
  const std::string expected = telemetry_header(gpus);
  if (header != std::string_view(expected).substr(0, expected.size() - 1)) return std::nullopt;
  return gpus;
}

}  // namespace

std::span<const Column<HostSample>> host_columns() { return kHostColumns; }

std::span<const Column<GpuSample>> gpu_columns() { return kGpuColumns; }

std::string telemetry_header(std::size_t gpus) {
  std::string text = "time_s";
  for (const auto& column : kHostColumns) text += fmt::format(",{}", column.name);
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    for (const auto& column : kGpuColumns) text += fmt::format(",gpu{}_{}", gpu, column.name);
  }
  return text + '\n';
}

void append_line(std::string& text, const Sample& sample) {
  fmt::format_to(std::back_inserter(text), FMT_COMPILE("{:.4f}"), sample.time_s);
  for (const auto& column : kHostColumns) append_cell(text, sample.host.*column.value);
  for (const GpuSample& gpu : sample.gpus) {
    for (const auto& column : kGpuColumns) append_cell(text, gpu.*column.value);
  }
  text += '\n';
}

Telemetry parse_telemetry(std::string_view text) {
  const std::size_t first_end = text.find('\n');
  const auto gpus = gpus_in(text.substr(0, first_end));
  if (!gpus) return {{}, "telemetry.csv does not begin with the columns that this doetune writes"};
  text.remove_prefix(std::min(first_end, text.size() - 1) + 1);
  Telemetry telemetry;
  for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    auto sample = parse_line(text.substr(0, end), *gpus);
    text.remove_prefix(end + 1);
    const bool later =
        sample && (telemetry.samples.empty() || sample->time_s > telemetry.samples.back().time_s);
    if (later) telemetry.samples.push_back(std::move(*sample));
  }
  if (telemetry.samples.empty()) telemetry.problem = "telemetry.csv has no samples";
  return telemetry;
}

}  // namespace doetune::runner
