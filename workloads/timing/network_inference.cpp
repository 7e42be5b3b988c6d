// The workload `network-inference`: the speed of an engine on one network, batch after batch,
// without video and executors.
//
// A batch is timed from its data in the engine's input buffer on the host to its results in the
// output buffer there; the next one starts when it is done.
#include "workloads/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/files.h"
#include "base/random.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/network_json.h"
#include "workloads/networks/weights.h"
#include "workloads/shared_inputs.h"
#include "workloads/timing/repeated_batch.h"
#include "workloads/timing/roofline.h"
#include "workloads/timing/timed_runs.h"

namespace doetune::workloads {
namespace {

constexpr double kTail = 0.99;

std::vector<Input> network_inference_inputs() {
  using enum InputKind;
  return with_timing_inputs({
      model_input(model_names()),
      {"batch_size", integer, 1, "images per batch", "", 1, 1024},
      {"input_size", integer, nullptr, "height of the input; default: that of the network",
       "pixels", 32, 1216},
      precision_input(),
      weights_input(),
      {"dump", text, nullptr,
       "a directory to write network.json to, and the weights, input and output of a batch as "
       "floats"},
  });
}

std::vector<Response> network_inference_responses() {
  return {
      {"throughput", "images/s", "images of a batch divided by its mean time"},
      {"latency", "s", "mean time of a batch, from host memory to host memory"},
      {"latency_p99", "s", "99 % quantile of the batch times; needs 662 batches"},
      {"roofline_fraction", "1",
       "throughput divided by that at the device's peak rates, layer by layer"},
  };
}

void dump(const std::filesystem::path& directory, const Network& network,
          std::span<const float> weights, CompiledNetwork& compiled, RepeatedBatch& batch) {
  batch.run();
  std::filesystem::create_directories(directory);
  replace_file(directory / "network.json", to_json(network).dump(2) + '\n');
  replace_file(directory / "weights.f32", weights);
  replace_file(directory / "input.f32", batch.input());
  replace_file(directory / "output.f32", compiled.output());
}

void add_tail(const std::vector<TimedMeasurement>& measured, Result& result) {
  std::vector<std::vector<double>> times;
  for (const TimedMeasurement& one : measured) times.push_back(one.values);
  add_percentile("latency_p99", kTail, times,
                 {"batches", "raise run.max_time or the setting duration"}, result);
}

Result measured_result(const Request& request, const TimingOptions& options, const Network& network,
                       const std::optional<PeakRates>& peak_rates) {
  const Inputs& in = request.inputs;
  const int batch = in.integer("batch_size");
  const Precision precision = precision_named(in.text("precision"));
  std::vector<float> weights(static_cast<std::size_t>(weight_count(network)));
  fill_weights(request, network, weights);
  const auto engine = make_engine(in.text("device"));
  const auto compiled = engine->compile(network, weights, {batch, precision, threads_of(request)});
  std::vector<float> input(compiled->input().size());
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = random_unit(request.seed, i);
  RepeatedBatch repeated(*compiled, std::move(input), batch);
  if (in.has("dump")) dump(in.text("dump"), network, weights, *compiled, repeated);

  const auto run = [&](int repetitions) {
    const auto begin = Clock::now();
    for (int i = 0; i < repetitions; ++i) repeated.run();
    return std::chrono::duration<double>(Clock::now() - begin).count();
  };
  const std::vector<Derived> derived{
      {"throughput", [&](double seconds) { return batch / seconds; }},
      {"latency", [](double seconds) { return seconds; }}};
  const auto measured = time_runs(run, options);
  Result result = timed_result(measured, request.repeats, derived);
  add_tail(measured, result);
  add_roofline_fraction(peak_rates, network, batch, precision, 1, result);
  result.notes["engine"] = engine->description();
  return result;
}

Result run_network_inference(const Request& request) {
  TimingOptions options = timing_options(request, Clock::now());
  options.rule.quantiles = requested_quantiles({{"latency_p99", kTail}}, request.responses);
  const Network network = network_of(request.inputs);
  const auto peak_rates =
      peak_rates_for(request, precision_named(request.inputs.text("precision")));
  return measured_result(request, options, network, peak_rates);
}

}  // namespace

const Workload& network_inference_workload() {
  static const Workload workload{
      "network-inference",
      "one network, one batch after another: how well an engine uses the device",
      "network-inference --model resnet-50 --batch_size 8 --threads 2",
      network_inference_inputs(),
      network_inference_responses(),
      run_network_inference};
  return workload;
}

}  // namespace doetune::workloads
