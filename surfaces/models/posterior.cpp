#include "surfaces/models/posterior.h"

#include <algorithm>
#include <cmath>

#include "surfaces/distributions.h"
#include "surfaces/quantiles.h"

namespace doetune::surfaces {
namespace {

Interval central(const Eigen::VectorXd& draws, double level) {
  return central_interval({draws.begin(), draws.end()}, level);
}

}  // namespace

Prediction Posterior::predict(const Eigen::VectorXd& coded) const {
  constexpr double kLevel = 0.95;
  const Eigen::VectorXd draws = means(coded.transpose());
  const double relative = variance_ ? std::sqrt(variance_->variance(coded)) : 1;
  const Eigen::VectorXd next = draws + relative * deviations_.cwiseProduct(next_errors_);
  const Interval of_mean = central(draws, kLevel), of_next = central(next, kLevel);
  const double t = t_quantile(kLevel, df_);
  Prediction prediction;
  prediction.mean = (of_mean.low + of_mean.high) / 2;
  prediction.standard_error = (of_mean.high - of_mean.low) / 2 / t;
  const double half = (of_next.high - of_next.low) / 2 / t;
  prediction.sigma = std::sqrt(std::max(0.0, half * half - std::pow(prediction.standard_error, 2)));
  prediction.df = df_;
  prediction.transform = transform_;
  return prediction;
}

}  // namespace doetune::surfaces
