// The workload `copy`: the kernels of STREAM and host-device copies, repeated to measure peak
// memory and transfer bandwidth.
#include "workloads/workloads.h"

#include "base/clock.h"
#include "workloads/peak_rates/operation.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/roofline.h"
#include "workloads/timing/timed_runs.h"

namespace doetune::workloads {
namespace {

constexpr double kCopySlice_s =
    0.02;  // long relative to the clock's resolution and the overhead of a slice
constexpr double kGiga = 1e9;
constexpr int kLine = 64;  // bytes

std::vector<Input> copy_inputs() {
  using enum CopyKind;
  std::vector<std::string> kinds;
  for (const CopyKind kind : {copy, scale, add, triad, host_to_device, device_to_host})
    kinds.emplace_back(name_of(kind));
  return with_timing_inputs({
      categories("kind", kinds, "a kernel of STREAM, or a copy between host and device"),
      {"size", InputKind::continuous, 128.0, "size of one array", "MiB", 0.001, 65536},
      categories("host_memory", {"pinned", "pageable"},
                 "host memory of copies between host and device"),
  });
}

std::vector<Response> copy_responses() {
  return {
      {"bandwidth", "GB/s", "array bytes read and written per second (counted as in STREAM)"},
      {"time", "s", "mean time of a run over the arrays"},
      {"roofline_fraction", "1", "fraction of the peak bandwidth of the device's memory"},
  };
}

Copy copy_of(const Inputs& in) {
  constexpr double kMebi = 1 << 20;
  const auto lines = static_cast<std::int64_t>(in.number("size") * kMebi / kLine);
  return {copy_kind_named(in.text("kind")), lines * kLine, in.text("host_memory") == "pinned"};
}

bool within_device(CopyKind kind) {
  return kind != CopyKind::host_to_device && kind != CopyKind::device_to_host;
}

Result run_copy(const Request& request) {
  const TimingOptions start = timing_options(request, Clock::now());
  const Copy copy = copy_of(request.inputs);
  const auto device = open_device(request.inputs.text("device"), threads_of(request));
  const auto operation = device->prepare(copy);
  const auto peak_rates = within_device(copy.kind) ? peak_rates_for(request, Precision::fp32)
                                                   : std::optional<PeakRates>();
  TimingOptions options = start;
  options.slice_s = kCopySlice_s;
  std::vector<Derived> derived{
      {"bandwidth", [&](double seconds) { return copy.bytes_moved() / seconds / kGiga; }},
      {"time", [](double seconds) { return seconds; }}};
  add_roofline(peak_rates, peak_rates ? copy.bytes_moved() / peak_rates->bytes_per_s : 0, derived);
  const auto measured =
      time_runs([&](int repetitions) { return operation->seconds(repetitions); }, options);
  Result result = timed_result(measured, request.repeats, derived);
  add_peak_rate_notes(peak_rates, result);
  if (!within_device(copy.kind))
    result.notes["roofline_fraction"] =
        "no peak rate is measured for the link between host and device";
  result.notes["device"] = device->description();
  return result;
}

}  // namespace

const Workload& copy_workload() {
  static const Workload workload{
      "copy",
      "arrays copied, scaled and added repeatedly: the peak memory bandwidth of a device",
      "copy --kind triad --size 256 --threads 2",
      copy_inputs(),
      copy_responses(),
      run_copy};
  return workload;
}

}  // namespace doetune::workloads
