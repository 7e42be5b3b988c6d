#include <algorithm>
#include <cmath>

#include "surfaces/diagnostics.h"
#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

constexpr double kWholeLeverage = 1 - 1e-10;

/// The number of columns of the model and its blocks.
int parameter_count(const Fit& fit) { return fit.n - fit.df_residual; }

void add_residual(const Fit& fit, double r, RunInfluence& run) {
  const int p = parameter_count(fit);
  const double df = fit.df_residual;
  const double odds = run.leverage / (1 - run.leverage);
  run.studentised = r;
  run.cooks_distance = r * r * odds / p;
  run.influential = f_p_value(*run.cooks_distance, p, df) < 0.5;
  if (df < 2) return;
  // r^2 reaches df if the whole residual sum of squares comes from this run.
  run.deleted = r * std::sqrt((df - 1) / std::max(0.0, df - r * r));
  run.dffits = *run.deleted * std::sqrt(odds);
  run.outlier_p = std::min(1.0, fit.n * t_p_value(*run.deleted, df - 1));
  run.outlier = *run.outlier_p < kSignificant;
}

}  // namespace

std::vector<RunInfluence> run_influences(const Fit& fit) {
  std::vector<RunInfluence> runs;
  for (int i = 0; i < fit.n; ++i) {
    RunInfluence run;
    run.leverage = fit.leverage[i];
    run.high_leverage = run.leverage > std::min(2.0 * parameter_count(fit) / fit.n, kWholeLeverage);
    if (fit.sigma && *fit.sigma > 0 && run.leverage < kWholeLeverage) {
      add_residual(fit, fit.studentised_residuals[i], run);
    }
    runs.push_back(run);
  }
  return runs;
}

}  // namespace doetune::surfaces
