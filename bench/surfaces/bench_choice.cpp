// Run time of model selection and whole-plot analysis: see README.md in this folder.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "surfaces/selection/selection.h"
#include "surfaces/selection/sequential.h"
#include "tests/doe/factors.h"

namespace {

using namespace doetune;
using namespace doetune::tests;

/// Random runs of a quadratic with uniform errors, in whole plots of four.
struct Runs {
  Runs(int n, int k) : factors(unit_factors(k)), coded(n, k), y(n) {
    RandomStream random(1, static_cast<std::uint64_t>(k));
    for (double& value : coded.reshaped()) value = 2 * random.uniform() - 1;
    for (int i = 0; i < n; ++i) {
      y[i] = coded(i, 0) - coded(i, 1) * coded(i, 2) + coded(i, 2) * coded(i, 2) + random.uniform();
      whole_plots.push_back(i / 4);
    }
  }

  doe::Model quadratic() const { return doe::Model::named("quadratic", factors); }

  std::vector<doe::Factor> factors;
  Eigen::MatrixXd coded;
  Eigen::VectorXd y;
  std::vector<int> whole_plots;
};

/// The number of models that respect heredity is 38,619 for 5 factors, 2,329,547 for 6.
void best_subset(benchmark::State& state) {
  const Runs runs(100, static_cast<int>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(surfaces::select_model(runs.quadratic(), runs.coded, runs.y));
  }
}

/// 10 factors, 66 terms: too many models for an exhaustive comparison.
void searched_subset(benchmark::State& state) {
  const Runs runs(200, 10);
  for (auto _ : state) {
    benchmark::DoNotOptimize(surfaces::select_model(runs.quadratic(), runs.coded, runs.y));
  }
}

void backward_elimination(benchmark::State& state) {
  const Runs runs(200, 10);
  for (auto _ : state) {
    benchmark::DoNotOptimize(surfaces::select_model(
        runs.quadratic(), runs.coded, runs.y, {.method = surfaces::SelectionMethod::kBackward}));
  }
}

void sequence_of_orders(benchmark::State& state) {
  const Runs runs(100, 5);
  for (auto _ : state) {
    benchmark::DoNotOptimize(surfaces::sequential_summary(runs.factors, runs.coded, runs.y));
  }
}

void whole_plot_fit(benchmark::State& state) {
  const Runs runs(100, 5);
  for (auto _ : state) {
    benchmark::DoNotOptimize(surfaces::fit_least_squares(runs.quadratic(), runs.coded, runs.y,
                                                         {.whole_plots = runs.whole_plots}));
  }
}

BENCHMARK(best_subset)->Arg(5)->Arg(6)->Unit(benchmark::kMillisecond);
BENCHMARK(searched_subset)->Unit(benchmark::kMillisecond);
BENCHMARK(backward_elimination)->Unit(benchmark::kMillisecond);
BENCHMARK(sequence_of_orders)->Unit(benchmark::kMillisecond);
BENCHMARK(whole_plot_fit)->Unit(benchmark::kMillisecond);

}  // namespace
