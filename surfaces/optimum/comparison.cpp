#include "surfaces/optimum/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/models/posterior.h"
#include "surfaces/quantiles.h"

namespace doetune::surfaces {
namespace {

/// Two means on the scale of the fit, with the covariance of their errors.
struct TwoMeans {
  Prediction a, b;
  double covariance = 0;
};

TwoMeans two_means(const Surface& surface, const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  Eigen::MatrixXd points(2, a.size());
  points << a.transpose(), b.transpose();
  const MeanErrors errors = surface.mean_errors(points);
  return {
      surface.predict(a), surface.predict(b),
      errors.of_runs.row(0).dot(errors.of_runs.row(1)) + errors.own.row(0).dot(errors.own.row(1))};
}

double slope(const Prediction& prediction) {
  if (prediction.transform == Transform::kNone) return 1;
  const double step = 1e-5 * std::max(1e-3, std::abs(prediction.mean));
  return (back_transformed(prediction.transform, prediction.mean + step) -
          back_transformed(prediction.transform, prediction.mean - step)) /
         (2 * step);
}

double squared(double x) { return x * x; }

Interval difference_interval(const TwoMeans& means, double t) {
  const double at_a = slope(means.a), at_b = slope(means.b);
  const double variance = squared(at_a * means.a.standard_error) +
                          squared(at_b * means.b.standard_error) -
                          2 * at_a * at_b * means.covariance;
  const double difference = means.a.response() - means.b.response();
  const double half = t * std::sqrt(std::max(0.0, variance));
  return {difference - half, difference + half};
}

/// The ratios q with (a - q b)^2 <= t^2 var(a - q b).
std::optional<Interval> fieller(const TwoMeans& means, double t) {
  const double of_b = squared(means.b.mean) - squared(t * means.b.standard_error);
  const double of_both = means.a.mean * means.b.mean - t * t * means.covariance;
  const double of_a = squared(means.a.mean) - squared(t * means.a.standard_error);
  const double root = std::sqrt(std::max(0.0, of_both * of_both - of_b * of_a));
  if (of_b <= 0) return std::nullopt;  // b may be 0
  return Interval{(of_both - root) / of_b, (of_both + root) / of_b};
}

/// From the logarithm of the ratio, to first order in the errors of the means.
std::optional<Interval> delta_ratio(const TwoMeans& means, double t) {
  const double y_a = means.a.response(), y_b = means.b.response();
  if (y_a <= 0 || y_b <= 0) return std::nullopt;
  const double at_a = slope(means.a) / y_a, at_b = slope(means.b) / y_b;
  const double variance = squared(at_a * means.a.standard_error) +
                          squared(at_b * means.b.standard_error) -
                          2 * at_a * at_b * means.covariance;
  const double half = t * std::sqrt(std::max(0.0, variance)), log_ratio = std::log(y_a / y_b);
  return Interval{std::exp(log_ratio - half), std::exp(log_ratio + half)};
}

std::optional<Interval> ratio_interval(const TwoMeans& means, double t) {
  if (means.a.transform == Transform::kLog) {
    const double variance =
        squared(means.a.standard_error) + squared(means.b.standard_error) - 2 * means.covariance;
    const double half = t * std::sqrt(std::max(0.0, variance));
    const double difference = means.a.mean - means.b.mean;
    return Interval{std::exp(difference - half), std::exp(difference + half)};
  }
  const Transform::Kind kind = means.a.transform.kind;
  if (kind == Transform::Kind::kLogit || kind == Transform::Kind::kPower) {
    return delta_ratio(means, t);
  }
  const std::optional<Interval> scaled = fieller(means, t);
  if (!scaled || means.a.transform == Transform::kNone) return scaled;
  if (scaled->low <= 0) return std::nullopt;
  if (means.a.transform == Transform::kSqrt) {
    return Interval{squared(scaled->low), squared(scaled->high)};
  }
  return Interval{1 / scaled->high, 1 / scaled->low};
}

/// The t quantile of each interval; 0: no interval.
struct Quantiles {
  double of_difference = 0;
  double of_ratio = 0;
};

Gain gain_of(const std::string& name, const TwoMeans& means, const Quantiles& t) {
  const double at_a = means.a.response(), at_b = means.b.response();
  Gain gain{name, at_a - at_b, {}, {}, {}};
  const bool positive = at_a > 0 && at_b > 0;
  if (positive) gain.ratio = at_a / at_b;
  if (t.of_difference > 0) gain.interval = difference_interval(means, t.of_difference);
  if (t.of_ratio > 0 && positive) gain.ratio_interval = ratio_interval(means, t.of_ratio);
  return gain;
}

/// Of the difference of two independent estimates with these standard errors.
double welch_df(double error_a, double df_a, double error_b, double df_b) {
  const double a = squared(error_a), b = squared(error_b);
  if (a + b == 0) return std::numeric_limits<double>::infinity();
  return squared(a + b) / (squared(a) / df_a + squared(b) / df_b);
}

Gain posterior_gain(const std::string& name, const Posterior& posterior, const Transform& transform,
                    const Eigen::MatrixXd& points, double level) {
  const Eigen::MatrixXd draws = posterior.means(points);
  std::vector<double> differences, ratios;
  for (Eigen::Index i = 0; i < draws.rows(); ++i) {
    const double a = back_transformed(transform, draws(i, 0));
    const double b = back_transformed(transform, draws(i, 1));
    differences.push_back(a - b);
    if (a > 0 && b > 0) ratios.push_back(a / b);
  }
  Gain gain{name, quantile(differences, 0.5), central_interval(differences, level), {}, {}};
  if (static_cast<Eigen::Index>(ratios.size()) == draws.rows()) {
    gain.ratio = quantile(ratios, 0.5);
    gain.ratio_interval = central_interval(ratios, level);
  }
  return gain;
}

}  // namespace

Gain measured_gain(const std::string& name, const Prediction& settings, const Prediction& others,
                   double level) {
  const TwoMeans means{settings, others, 0};
  if (settings.df == 0 || others.df == 0) return gain_of(name, means, {});
  const auto t_of = [&](double error_a, double error_b) {
    return t_quantile(level, welch_df(error_a, settings.df, error_b, others.df));
  };
  const double error_a = slope(settings) * settings.standard_error;
  const double error_b = slope(others) * others.standard_error;
  const double at_a = settings.response(), at_b = others.response();
  const bool positive = at_a > 0 && at_b > 0;
  return gain_of(name, means,
                 {t_of(error_a, error_b), positive ? t_of(error_a / at_a, error_b / at_b) : 0});
}

std::vector<Gain> gains(const OptimumRequest& request, const std::vector<double>& settings,
                        const std::vector<double>& others) {
  const Eigen::VectorXd a = doe::coded_point(request.factors, settings);
  const Eigen::VectorXd b = doe::coded_point(request.factors, others);
  std::vector<Gain> gains;
  for (const GoalResponse& response : request.responses) {
    const TwoMeans means = two_means(*response.surface, a, b);
    const double t = means.a.df > 0 ? t_quantile(request.confidence, means.a.df) : 0;
    gains.push_back(gain_of(response.name, means, {t, t}));
  }
  return gains;
}

std::vector<Gain> gains_of_chosen(const OptimumRequest& request,
                                  const std::vector<double>& settings,
                                  const std::vector<double>& others) {
  std::vector<Gain> all = gains(request, settings, others);
  Eigen::MatrixXd points(2, request.factors.size());
  points.row(0) = doe::coded_point(request.factors, settings).transpose();
  points.row(1) = doe::coded_point(request.factors, others).transpose();
  if (points.row(0) == points.row(1)) return all;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const GoalResponse& response = request.responses[r];
    if (!response.posterior) continue;
    const Transform transform = response.surface->predict(points.row(0)).transform;
    all[r] =
        posterior_gain(response.name, *response.posterior, transform, points, request.confidence);
  }
  return all;
}

}  // namespace doetune::surfaces
