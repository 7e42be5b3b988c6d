// Run time of the optimum and its uncertainty.
#include <benchmark/benchmark.h>

#include "base/random.h"
#include "surfaces/fit.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/box_optimum.h"
#include "surfaces/optimum/pareto.h"
#include "surfaces/optimum/uncertainty.h"
#include "tests/doe/factors.h"

namespace {

using namespace doetune;
using namespace doetune::tests;
using surfaces::Goal, surfaces::GoalType;

/// A quadratic fitted to random responses at random points.
surfaces::Fit random_fit(const std::vector<doe::Factor>& factors, std::uint64_t seed) {
  const doe::Model model = doe::Model::named("quadratic", factors);
  RandomStream random(seed, 0);
  const int n = model.column_count() + 20;
  Eigen::MatrixXd coded(n, factors.size());
  for (double& x : coded.reshaped()) x = 2 * random.uniform() - 1;
  Eigen::VectorXd y(n);
  for (int i = 0; i < n; ++i) {
    y[i] = 10 + random.uniform() - (coded.row(i).array() - 0.2 * coded.row(i).sum()).square().sum();
  }
  return surfaces::fit_least_squares(model, coded, y);
}

std::vector<doe::Factor> whole_factors(int k, double levels) {
  std::vector<doe::Factor> factors;
  for (int f = 0; f < k; ++f) factors.push_back(whole(std::string(1, char('a' + f)), 1, levels));
  return factors;
}

/// Three ramps, or three limits that most points meet, over 16^5 or 25^5 points.
void enumeration(benchmark::State& state, GoalType type, double levels) {
  const std::vector<doe::Factor> factors = whole_factors(5, levels);
  const surfaces::Fit a = random_fit(factors, 1), b = random_fit(factors, 2),
                      c = random_fit(factors, 3);
  surfaces::OptimumRequest request;
  request.factors = factors;
  request.responses = {
      {"a", &a, Goal{type, 0, 12}}, {"b", &b, Goal{type, 0, 12}}, {"c", &c, Goal{type, 0, 12}}};
  request.threads = 2;
  for (auto _ : state) benchmark::DoNotOptimize(surfaces::find_optimum(request));
}

/// The exact optimum on a box of k factors of a quadratic with negative curvature in all of them.
void exact_on_box(benchmark::State& state) {
  const auto k = static_cast<int>(state.range(0));
  const surfaces::Fit fit = random_fit(numbered_factors(k), 1);
  const Eigen::VectorXd low = Eigen::VectorXd::Constant(k, -1);
  const surfaces::QuadraticForm q = *fit.quadratic(low);
  for (auto _ : state) benchmark::DoNotOptimize(surfaces::highest_in_box(q, low, -low));
}

/// 10,000 draws of the optimum of three factors: one ramp, exact; or three over the usable points.
void draws_of_optimum(benchmark::State& state) {
  const std::vector<doe::Factor> factors = numbered_factors(3);
  const surfaces::Fit a = random_fit(factors, 1), b = random_fit(factors, 2),
                      c = random_fit(factors, 3);
  surfaces::OptimumRequest request;
  request.factors = factors;
  request.threads = 2;
  request.max_enumerated = 1'000'000;
  const Goal goal{GoalType::kMaximize, 0, 12};
  request.responses = {{"a", &a, goal}};
  if (state.range(0) == 3) request.responses = {{"a", &a, goal}, {"b", &b, goal}, {"c", &c, goal}};
  const surfaces::Optimum optimum = surfaces::find_optimum(request);
  for (auto _ : state) benchmark::DoNotOptimize(surfaces::optimum_uncertainty(request, optimum));
}

/// The Pareto front of two responses over 16^5 points.
void pareto_million(benchmark::State& state) {
  const std::vector<doe::Factor> factors = whole_factors(5, 15);
  const surfaces::Fit a = random_fit(factors, 1), b = random_fit(factors, 2);
  surfaces::OptimumRequest request;
  request.factors = factors;
  request.threads = 2;
  request.responses = {{"a", &a, Goal{GoalType::kMaximize, 0, 12}},
                       {"b", &b, Goal{GoalType::kMinimize, 0, 12}}};
  for (auto _ : state) benchmark::DoNotOptimize(surfaces::pareto_front(request));
}

BENCHMARK(exact_on_box)->Arg(3)->Arg(6)->Arg(10)->Unit(benchmark::kMillisecond);
BENCHMARK(draws_of_optimum)->Arg(1)->Arg(3)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(pareto_million)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(enumeration, million_ramps, GoalType::kMaximize, 16)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(enumeration, million_limits, GoalType::kAtLeast, 16)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(enumeration, ten_million_ramps, GoalType::kMaximize, 25)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(enumeration, ten_million_limits, GoalType::kAtLeast, 25)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
