// The overhead of adaptive measurement: processor time per measured value.
#include <benchmark/benchmark.h>

#include "runner/measurement/batch_means.h"
#include "runner/measurement/measurement.h"
#include "runner/measurement/quantile.h"
#include "tests/runner/series.h"

using namespace doetune;

namespace {

std::vector<double> series(benchmark::State& state) {
  RandomStream random(1, 1);
  return tests::autoregression(static_cast<std::size_t>(state.range(0)), 0.5, 0.1, random);
}

void per_value(benchmark::State& state) {
  state.counters["per_value"] = benchmark::Counter(
      static_cast<double>(state.range(0)),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

/// Every value added and assessed, as in an adaptive measurement.
void detector(benchmark::State& state) {
  const auto values = series(state);
  for (auto _ : state) {
    measurement::SteadyDetector detector;
    for (const double value : values) {
      detector.add(value);
      benchmark::DoNotOptimize(detector.assess());
    }
  }
  per_value(state);
}

/// A whole measurement, whose target precision is never reached.
void adaptive(benchmark::State& state) {
  const auto values = series(state);
  for (auto _ : state) {
    measurement::Measurement measurement({.precision = 1e-9}, 0);
    double now_s = 0;
    for (const double value : values) measurement.add(value, now_s += value);
    benchmark::DoNotOptimize(measurement.stopped_by());
  }
  per_value(state);
}

void batch_means(benchmark::State& state) {
  const auto values = series(state);
  for (auto _ : state) benchmark::DoNotOptimize(measurement::mean_interval(values));
}

void percentile(benchmark::State& state) {
  const auto values = series(state);
  for (auto _ : state) benchmark::DoNotOptimize(measurement::quantile_interval(values, 0.99));
}

BENCHMARK(detector)->Arg(100)->Arg(1000)->Arg(100000);
BENCHMARK(adaptive)->Arg(100)->Arg(1000)->Arg(100000);
BENCHMARK(batch_means)->Arg(1000)->Arg(100000);
BENCHMARK(percentile)->Arg(1000)->Arg(100000);

}  // namespace

BENCHMARK_MAIN();
