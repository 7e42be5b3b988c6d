#include "surfaces/models/limit_slack.h"

#include <algorithm>
#include <cmath>

namespace doetune::surfaces {
namespace {

constexpr double kNoError = 1e-3;  ///< of the range of the responses
constexpr double kStandardErrors = 3;
constexpr double kRounding = 1e-9;  ///< of the range, or of the largest response

/// The largest distance between what a run gave and the ends of its interval, own unit.
double resolution(const GaussianProcess& process) {
  double widest = 0;
  for (Eigen::Index i = 0; i < process.n; ++i) {
    const Prediction run = process.predict(process.coded.row(i).transpose());
    const double half = kStandardErrors * std::hypot(run.standard_error, run.sigma);
    for (const double end : {run.mean - half, run.mean + half}) {
      const double response = back_transformed(process.transform, end);
      widest = std::max(widest, std::abs(response - process.observed[i]));
    }
  }
  return widest;
}

}  // namespace

double limit_slack(const Goal& goal, const GaussianProcess& process) {
  if (!goal.is_limit()) return 0;
  const double range = process.observed.maxCoeff() - process.observed.minCoeff();
  double slack = resolution(process);
  if (!(slack < kNoError * range)) return 0;
  const double rounding = kRounding * std::max(range, process.observed.cwiseAbs().maxCoeff());
  bool met_exactly = false;
  for (const double y : process.observed) {
    const double missed = std::max(goal.low - y, y - goal.high);
    if (std::abs(missed) <= rounding) met_exactly = true;
    if (missed > rounding) slack = std::min(slack, missed / 2);
  }
  return met_exactly ? slack : 0;
}

}  // namespace doetune::surfaces
