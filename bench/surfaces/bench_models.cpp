// Run time of models other than polynomials: see README.md in this folder.
#include <benchmark/benchmark.h>

#include <cmath>

#include "base/random.h"
#include "surfaces/models/choose_surface.h"
#include "surfaces/models/feasibility.h"
#include "surfaces/models/gaussian_process.h"
#include "surfaces/models/parametric_model.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/uncertainty.h"
#include "tests/doe/factors.h"

namespace {

using namespace doetune;
using surfaces::fit_gaussian_process;
using surfaces::GaussianProcess;

/// 500 runs of 6 factors with noise, all at different points.
struct Runs {
  doe::Model mean = doe::Model::parse({"1"}, tests::unit_factors(6));
  Eigen::MatrixXd coded{500, 6};
  Eigen::VectorXd y{500};

  Runs() {
    RandomStream random(1, 0);
    for (double& value : coded.reshaped()) value = 2 * random.uniform() - 1;
    for (int i = 0; i < 500; ++i) {
      const auto x = coded.row(i);
      y[i] = std::sin(3 * x[0]) + x[1] * x[2] + std::exp(x[3]) + std::tanh(5 * x[4] + x[0]) +
             0.2 * random.uniform();
    }
  }
};

void gaussian_process(benchmark::State& state) {
  const Runs runs;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fit_gaussian_process(runs.mean, runs.coded, runs.y,
                                                  {.threads = static_cast<int>(state.range(0))}));
  }
}

void gaussian_process_responses(benchmark::State& state) {
  const Runs runs;
  const GaussianProcess fit = fit_gaussian_process(runs.mean, runs.coded, runs.y);
  for (auto _ : state) {
    double sum = 0;
    for (int i = 0; i < 100'000; ++i) sum += fit.response(0.9 * runs.coded.row(i % 500));
    benchmark::DoNotOptimize(sum);
  }
}

/// Draws of the optimum of two continuous factors by a process over 20 runs.
void gaussian_process_optimum(benchmark::State& state) {
  const Runs runs;
  const doe::Model mean = doe::Model::parse({"1"}, tests::unit_factors(2));
  const GaussianProcess fit =
      fit_gaussian_process(mean, runs.coded.topLeftCorner(20, 2), runs.y.head(20));
  surfaces::OptimumRequest request;
  request.factors = mean.factors();
  request.threads = 1;
  request.max_enumerated = 20'000;  // as an analysis asks for
  request.max_drawn = 500;
  request.responses = {{"y", &fit, surfaces::Goal{surfaces::GoalType::kMaximize, 0, 12}}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  for (auto _ : state) benchmark::DoNotOptimize(surfaces::optimum_uncertainty(request, optimum));
}

void choice(benchmark::State& state) {
  const Runs runs;
  const Eigen::MatrixXd coded = runs.coded.topRows(60);
  const Eigen::VectorXd y = runs.y.head(60);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        surfaces::choose_surface(runs.mean.factors(), coded, y, {.threads = 1}));
  }
}

/// Throughput at seven numbers of users, 3 parameters from 9 starts.
void parametric(benchmark::State& state) {
  const std::vector<doe::Factor> factors{tests::continuous("users", 1, 216)};
  Eigen::VectorXd coded(7), y(7);
  coded << 1, 18, 36, 72, 108, 144, 216;
  for (double& users : coded) users = factors[0].to_coded(users);
  y << 64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2;
  const surfaces::ParametricModel& scalability =
      surfaces::parametric_model_named("universal-scalability");
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        surfaces::fit_parametric_model(scalability, factors, "users", coded, y));
  }
}

void feasibility(benchmark::State& state) {
  const Runs runs;
  const Eigen::MatrixXd coded = runs.coded.topRows(100);
  std::vector<bool> completed;
  for (int i = 0; i < 100; ++i) completed.push_back(coded(i, 0) + coded(i, 1) < 0.3);
  for (auto _ : state) {
    benchmark::DoNotOptimize(surfaces::fit_feasibility(runs.mean.factors(), coded, completed));
  }
}

BENCHMARK(choice)->Unit(benchmark::kMillisecond);
BENCHMARK(parametric)->Unit(benchmark::kMicrosecond);
BENCHMARK(feasibility)->Unit(benchmark::kMicrosecond);
BENCHMARK(gaussian_process)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(gaussian_process_responses)->Unit(benchmark::kMillisecond);
BENCHMARK(gaussian_process_optimum)->Unit(benchmark::kMillisecond);

}  // namespace
