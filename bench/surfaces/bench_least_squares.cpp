// Run time of least-squares fits: see README.md in this folder.
#include <benchmark/benchmark.h>

#include <cmath>

#include "base/random.h"
#include "surfaces/fit.h"
#include "tests/doe/factors.h"

namespace {

using namespace doetune;
using namespace doetune::tests;

/// n random runs, 10 factors, full quadratic: 66 terms.
struct LargeStudy {
  doe::Model model = doe::Model::named("quadratic", numbered_factors(10));
  Eigen::MatrixXd coded;
  Eigen::VectorXd y;

  explicit LargeStudy(Eigen::Index n) : coded(n, 10), y(n) {
    RandomStream random(1, 0);
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index f = 0; f < 10; ++f) coded(i, f) = 2 * random.uniform() - 1;
      y[i] = 10 + coded.row(i).sum() - coded.row(i).squaredNorm() + random.uniform();
    }
  }
};

void fit_large(benchmark::State& state, surfaces::FitOptions options) {
  const LargeStudy study(1000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        surfaces::fit_least_squares(study.model, study.coded, study.y, options));
  }
}

BENCHMARK_CAPTURE(fit_large, squares, surfaces::FitOptions{})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit_large, weighted, {.weights = Eigen::VectorXd::LinSpaced(1000, 1, 2)})
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fit_large, huber, {.loss = surfaces::Loss::kHuber})
    ->Unit(benchmark::kMillisecond);

}  // namespace
