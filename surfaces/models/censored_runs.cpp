#include "surfaces/models/censored_runs.h"

#include <algorithm>
#include <cmath>

#include "surfaces/distributions.h"

namespace doetune::surfaces {
namespace {

/// The end of the range that is a finite response, for a mean that is none (inverse: z = 0).
double finite(double y, const Interval& range) {
  if (std::isfinite(y)) return y;
  return std::isfinite(range.low) ? range.low : range.high;
}

}  // namespace

double truncated_normal_mean(double mean, double deviation, double low, double high) {
  const double a = (low - mean) / deviation, b = (high - mean) / deviation;
  // In the upper tail, probabilities keep their precision as those of the lower one.
  if (a > 0)
    return 2 * mean - truncated_normal_mean(mean, deviation, 2 * mean - high, 2 * mean - low);
  const double within = normal_probability(b) - normal_probability(a);
  if (!(within > 0)) return std::clamp(mean, low, high);
  const double truncated = mean + deviation * (normal_density(a) - normal_density(b)) / within;
  return std::clamp(truncated, low, high);
}

Eigen::VectorXd imputed(const GaussianProcess& process, const CensoredRuns& censored) {
  Eigen::VectorXd y(censored.coded.rows());
  for (Eigen::Index i = 0; i < y.size(); ++i) {
    const Prediction run = process.predict(censored.coded.row(i).transpose());
    const Interval& range = censored.ranges[static_cast<std::size_t>(i)];
    const auto [range_low, range_high] =
        transformed_range(process.transform, range.low, range.high);
    // z that belong to no finite response would give an infinite mean.
    const auto [image_low, image_high] = image_of_positive(process.transform);
    const double low = std::max(range_low, image_low), high = std::min(range_high, image_high);
    const double z =
        low > high  // the transform has no values there
            ? run.mean
            : truncated_normal_mean(run.mean, std::hypot(run.standard_error, run.sigma), low, high);
    y[i] = finite(back_transformed(process.transform, z), range);
  }
  return y;
}

GaussianProcess fit_gaussian_process(const doe::Model& model, const Eigen::MatrixXd& coded,
                                     const Eigen::VectorXd& y, const CensoredRuns& censored,
                                     const GaussianProcessOptions& options) {
  GaussianProcess measured = fit_gaussian_process(model, coded, y, options);
  if (censored.ranges.empty()) return measured;
  Eigen::MatrixXd all_coded(coded.rows() + censored.coded.rows(), coded.cols());
  all_coded << coded, censored.coded;
  Eigen::VectorXd all(all_coded.rows());
  all << y, imputed(measured, censored);
  return fit_gaussian_process(model, all_coded, all, options);
}

}  // namespace doetune::surfaces
