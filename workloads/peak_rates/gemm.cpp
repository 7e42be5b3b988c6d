// The workload `gemm`: a matrix product, repeated to measure a device's peak compute rate.
#include "workloads/workloads.h"

#include <algorithm>

#include "base/clock.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/roofline.h"
#include "workloads/timing/timed_runs.h"

namespace doetune::workloads {
namespace {

constexpr double kGemmSlice_s =
    0.02;  // long relative to the clock's resolution and the overhead of a slice
constexpr double kTera = 1e12;

constexpr int kLargest = 65536;

std::vector<Input> gemm_inputs() {
  const auto edge = [](const char* name, const char* description) {
    return Input{name, InputKind::integer, nullptr, description, "", 1, kLargest};
  };
  return with_timing_inputs({
      {"size", InputKind::integer, 1024, "default of m, n and k", "", 1, kLargest},
      edge("m", "rows of the first matrix and of the product"),
      edge("n", "columns of the second matrix and of the product"),
      edge("k", "columns of the first matrix, rows of the second"),
      precision_input(),
      categories("transpose_b", {"no", "yes"}, "whether the second matrix is stored as n x k"),
  });
}

std::vector<Response> gemm_responses() {
  return {
      {"rate", "TFLOP/s", "operations per second; a multiply-accumulate counts as two"},
      {"time", "s", "mean time of a product"},
      {"intensity", "FLOP/B", "operations per byte: both matrices read, the product written"},
      {"roofline_fraction", "1", "time at the device's peak rates divided by the measured time"},
  };
}

Gemm gemm_of(const Inputs& in) {
  const auto edge = [&](const char* name) { return in.integer(in.has(name) ? name : "size"); };
  return {edge("m"), edge("n"), edge("k"), precision_named(in.text("precision")),
          in.text("transpose_b") == "yes"};
}

Result run_gemm(const Request& request) {
  const TimingOptions start = timing_options(request, Clock::now());
  const Gemm gemm = gemm_of(request.inputs);
  const auto peak_rates = peak_rates_for(request, gemm.precision);
  const auto device = open_device(request.inputs.text("device"), threads_of(request));
  const auto operation = device->prepare(gemm);
  TimingOptions options = start;
  options.slice_s = kGemmSlice_s;
  std::vector<Derived> derived{
      {"rate", [&](double seconds) { return gemm.operations() / seconds / kTera; }},
      {"time", [](double seconds) { return seconds; }}};
  add_roofline(peak_rates, peak_rates ? roofline_seconds(gemm, *peak_rates) : 0, derived);
  const auto measured =
      time_runs([&](int repetitions) { return operation->seconds(repetitions); }, options);
  Result result = timed_result(measured, request.repeats, derived);
  result.responses["intensity"] = gemm.operations() / gemm.bytes();
  add_peak_rate_notes(peak_rates, result);
  result.notes["device"] = device->description();
  return result;
}

}  // namespace

double roofline_seconds(const Gemm& gemm, const PeakRates& peak_rates) {
  return std::max(gemm.operations() / peak_rates.operations_per_s,
                  gemm.bytes() / peak_rates.bytes_per_s);
}

const Workload& gemm_workload() {
  static const Workload workload{
      "gemm",
      "one matrix product, repeated: the peak arithmetic rate of a device",
      "gemm --size 1024 --precision bf16",
      gemm_inputs(),
      gemm_responses(),
      run_gemm};
  return workload;
}

}  // namespace doetune::workloads
