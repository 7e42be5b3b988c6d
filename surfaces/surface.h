// Interface of surfaces that predict a response, with uncertainty, at coded points.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <vector>

#include "surfaces/transform.h"

namespace doetune::surfaces {

struct Interval {
  double low = 0;
  double high = 0;
};

/// A prediction on the scale of the fit: the mean response is `mean` with error `standard_error`;
/// one future run scatters about it with `sigma`. Both come from an error estimate with `df`
/// degrees of freedom (Student's t), possibly fractional, infinite if the error is known; without
/// any (df == 0) there are no intervals.
struct Prediction {
  double mean = 0;
  double standard_error = 0;
  double sigma = 0;
  double df = 0;
  Transform transform = Transform::kNone;
  /// Degrees of freedom of the error of the next run, if they differ from the mean's because the
  /// two are estimated from different parts of the runs.
  std::optional<double> next_run_df = {};

  /// The predicted response in its own unit (for a transformed response the median of a run).
  double response() const;

  /// Confidence interval of the mean response: mean +- t standard_error.
  std::optional<Interval> confidence_interval(double level = 0.95) const;

  /// Prediction interval of the next run: mean +- t sqrt(standard_error^2 + sigma^2).
  std::optional<Interval> prediction_interval(double level = 0.95) const;

  /// Tolerance interval that contains at least the fraction `coverage` of all future runs at the
  /// point with confidence `level`: mean +- z sqrt((1 + standard_error^2 / sigma^2) df / chi2)
  /// sigma, with z the normal quantile of the coverage and chi2 that of probability 1 - level
  /// (Howe's factor with sigma^2 / standard_error^2 for the number of runs). Source: Howe (1969),
  /// JASA 64, 610; Wallis (1951), Second Berkeley Symposium, 43. Empty without an error estimate;
  /// the confidence interval if sigma is 0.
  std::optional<Interval> tolerance_interval(double coverage = 0.95, double level = 0.95) const;

  /// The ends of [low, high], either possibly infinite, as values of Student's t: their distance
  /// from the mean in units of sqrt(standard_error^2 + sigma^2), the lower one first. Empty without
  /// an error estimate; infinite if the error is 0; high < low if the transform has no values in
  /// the range.
  std::optional<Interval> standardised(double low, double high) const;

  /// The probability that the next run lies in [low, high], either end possibly infinite.
  std::optional<double> probability_within(double low, double high) const;
};

/// Joint errors of the predicted means at m points, on the scale of the fit: the means have errors
/// of_runs e + own u, where e are the standardised errors of the n runs the surface was fitted to
/// and u further ones, all independent with variance 1. So two surfaces fitted to the same runs
/// share e, and a mean's squared standard error is the sum of squares of its rows.
struct MeanErrors {
  Eigen::MatrixXd of_runs;  ///< m x n, columns in the order of the runs of the fit
  Eigen::MatrixXd own;      ///< m x r, r >= 0
};

/// q(c) = constant + linear' c + c' second c, with `second` symmetric.
struct QuadraticForm {
  double constant = 0;
  Eigen::VectorXd linear;  ///< k
  Eigen::MatrixXd second;  ///< k x k

  double value(const Eigen::Ref<const Eigen::VectorXd>& c) const {
    return constant + c.dot(linear + second * c);
  }
};

class Surface {
 public:
  virtual ~Surface() = default;
  virtual Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded) const = 0;

  /// `coded` is m x k, one point per row.
  virtual MeanErrors mean_errors(const Eigen::MatrixXd& coded) const = 0;

  /// predict(coded).response(), if a surface can compute it more cheaply.
  virtual double response(const Eigen::Ref<const Eigen::VectorXd>& coded) const {
    return predict(coded).response();
  }

  /// response() and predict() of m points at once; thread-safe.
  virtual Eigen::VectorXd responses(const Eigen::MatrixXd& coded) const;
  virtual std::vector<Prediction> predictions(const Eigen::MatrixXd& coded) const;

  /// The residuals of the runs, in the order of the columns of mean_errors; empty if the surface
  /// has none. Any common scale factor is allowed: they only serve correlations with other
  /// responses.
  virtual Eigen::VectorXd run_residuals() const { return {}; }

  /// The surface as a quadratic of all factors, on the scale of the fit, with categorical factors
  /// at the levels of `coded` (with zero slope); empty if it is not quadratic.
  virtual std::optional<QuadraticForm> quadratic(
      const Eigen::Ref<const Eigen::VectorXd>& /*coded*/) const {
    return std::nullopt;
  }
};

}  // namespace doetune::surfaces
