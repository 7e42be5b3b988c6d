// Run time of a plan, a fit and an optimum: see README.md in this folder.
#include <benchmark/benchmark.h>

#include "doe/evaluation.h"
#include "surfaces/fit.h"
#include "surfaces/optimum.h"
#include "tests/surfaces/published_fccd.h"

namespace {

using namespace doetune;
using namespace doetune::tests;

doe::Model quadratic() { return doe::Model::named("quadratic", published_factors()); }

void fit_published(benchmark::State& state) {
  const doe::Model model = quadratic();
  const Eigen::MatrixXd points = published_points();
  const Eigen::VectorXd y = published_response(3);
  for (auto _ : state) benchmark::DoNotOptimize(surfaces::fit_least_squares(model, points, y));
}

void plan_published(benchmark::State& state) {
  doe::DesignRequest request;
  request.factors = published_factors();
  request.options.center_runs = 6;
  const doe::Model model = quadratic();
  for (auto _ : state) {
    const doe::Design design = doe::build_design("fccd", request);
    benchmark::DoNotOptimize(doe::evaluate(model, design.coded()));
  }
}

/// All 3 x 15 x 801 usable points, two responses with limits.
void optimum_published(benchmark::State& state) {
  using surfaces::Goal, surfaces::GoalType;
  const surfaces::Fit rate =
      surfaces::fit_least_squares(quadratic(), published_points(), published_response(3));
  const surfaces::Fit time =
      surfaces::fit_least_squares(quadratic(), published_points(), published_response(4));
  surfaces::OptimumRequest request;
  request.factors = published_factors();
  request.responses = {{"throughput", &rate, Goal{GoalType::kWithin, 1800, 2500}},
                       {"processing_time", &time, Goal{GoalType::kWithin, 0.5, 1.0}}};
  for (auto _ : state) benchmark::DoNotOptimize(surfaces::find_optimum(request));
}

BENCHMARK(plan_published)->Unit(benchmark::kMicrosecond);
BENCHMARK(fit_published)->Unit(benchmark::kMicrosecond);
BENCHMARK(optimum_published)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
