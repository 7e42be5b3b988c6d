// A designed experiment from C++: choose the runs, measure, fit a surface, find the best settings.
#include <cmath>
#include <cstdio>

#include "doe/design.h"
#include "surfaces/fit.h"
#include "surfaces/optimum.h"

namespace doe = doetune::doe;
namespace surfaces = doetune::surfaces;

int main() {
  // What can be set: settings are shown, and stepped through, in natural units.
  doe::DesignRequest request;
  request.factors = {
      {.name = "workers", .kind = doe::FactorKind::kInteger, .low = 1, .high = 9},
      {.name = "wait", .unit = "ms", .low = 0, .high = 20, .step = 0.5},
  };
  request.model = doe::Model::named("quadratic", request.factors);
  const doe::Design design = doe::build_design("fccd", request);

  // What is measured: here a formula whose best is 6 workers and 8 ms, with a ripple as its noise.
  auto throughput = [calls = 0](double workers, double wait) mutable {
    return 900 - 12 * std::pow(workers - 6, 2) - 2 * std::pow(wait - 8, 2) +
           3 * std::sin(37.0 * ++calls);
  };
  Eigen::VectorXd measured(static_cast<Eigen::Index>(design.points.size()));
  for (const int run : doe::random_run_order(design, /*seed=*/2026)) {
    const auto settings = doe::natural_settings(request.factors, design.points[run].coded);
    measured[run] = throughput(settings[0], settings[1]);
    std::printf("workers %g, wait %4.1f ms: %.1f requests/s\n", settings[0], settings[1],
                measured[run]);
  }

  const surfaces::Fit fit = surfaces::fit_least_squares(request.model, design.coded(), measured);
  std::printf("\nR2 %.4f, sigma %.2f requests/s\n", fit.r2, fit.sigma.value());

  surfaces::OptimumRequest wanted{.factors = request.factors};
  surfaces::Goal most{.type = surfaces::GoalType::kMaximize, .low = 0, .high = 1000};
  wanted.responses = {{.name = "throughput", .surface = &fit, .goal = most}};
  const surfaces::Optimum optimum = surfaces::find_optimum(wanted);
  const surfaces::ResponsePrediction& predicted = optimum.best.predictions.front();
  std::printf("best: %g workers, wait %g ms: %.1f requests/s (next run %.1f to %.1f)\n",
              optimum.best.settings[0], optimum.best.settings[1], predicted.mean,
              predicted.prediction_interval->low, predicted.prediction_interval->high);
}
