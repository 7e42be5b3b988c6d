// A sequential search from C++: what cannot run is learnt and avoided.
#include <cmath>
#include <cstdio>

#include "tuning/answer.h"
#include "tuning/proposal.h"
#include "tuning/start.h"

namespace doe = doetune::doe;
namespace surfaces = doetune::surfaces;
namespace tuning = doetune::tuning;

int main() {
  tuning::Problem problem;
  problem.factors = {
      {.name = "workers", .kind = doe::FactorKind::kInteger, .low = 1, .high = 9},
      {.name = "batch",
       .kind = doe::FactorKind::kDiscrete,
       .scale = doe::Scale::kLog2,
       .low = 1,
       .high = 32,
       .levels = {1, 2, 4, 8, 16, 32}},
  };
  problem.region = doe::Region(problem.factors, {}, {});
  problem.objectives = {{.name = "throughput", .goal = {.type = surfaces::GoalType::kMaximize}}};

  // What is measured: here a formula whose best is 6 workers and a batch of 8, where memory
  // suffices.
  const auto measured = [](const tuning::Settings& settings) -> tuning::Observation {
    const double workers = settings[0], batch = settings[1];
    if (workers * batch > 80) return {settings, false, {}};
    const double throughput =
        900 - 12 * std::pow(workers - 6, 2) - 40 * std::pow(std::log2(batch) - 3, 2);
    return {settings, true, {{"throughput", throughput}}};
  };

  constexpr int kBudget = 20;
  std::vector<tuning::Observation> runs;
  for (const tuning::Settings& settings :
       tuning::start(problem, tuning::start_size(problem, kBudget))) {
    runs.push_back(measured(settings));
  }
  while (runs.size() < kBudget) {
    runs.push_back(measured(tuning::next_runs(problem, runs).front().settings));
  }
  for (const tuning::Observation& run : runs) {
    std::printf("workers %g, batch %g: %s\n", run.settings[0], run.settings[1],
                run.completed ? std::to_string(run.values.at("throughput")).c_str() : "cannot run");
  }
  const auto optimum = tuning::answer(problem, runs);
  std::printf("best: %g workers, batch %g\n", optimum->best.settings[0], optimum->best.settings[1]);
}
