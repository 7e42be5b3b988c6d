// Anything that predicts a response, with its uncertainty, at coded points.
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

/// A prediction on the scale of the fit: the mean response is `mean`, known to `standard_error`;
/// one further run scatters about it with `sigma`. Both come from an error estimate with
/// `df` degrees of freedom (Student's t), perhaps a fraction, infinite where the error is known;
/// without any (df == 0) there are no intervals.
struct Prediction {
  double mean = 0;
  double standard_error = 0;
  double sigma = 0;
  double df = 0;
  Transform transform = Transform::kNone;
  /// Of the error of the next run, where that has other degrees of freedom than the mean's: the two
  /// are estimated from different parts of the runs.
  std::optional<double> next_run_df = {};

  /// The predicted response in its own unit (for a transformed response the median of a run).
  double response() const;

  /// Where the mean response lies, with the given confidence: mean +- t standard_error.
  std::optional<Interval> confidence_interval(double level = 0.95) const;

  /// Where the next run will lie: mean +- t sqrt(standard_error^2 + sigma^2).
  std::optional<Interval> prediction_interval(double level = 0.95) const;

  /// Where at least a share `coverage` of all further runs at the point will lie, with confidence
  /// `level`: mean +- z sqrt((1 + standard_error^2 / sigma^2) df / chi2) sigma, with z the normal
  /// quantile of the coverage and chi2 that of probability 1 - level (Howe's factor with
  /// sigma^2 / standard_error^2 for the number of runs). Source: Howe (1969), JASA 64, 610;
  /// Wallis (1951), Second Berkeley Symposium, 43. Empty without an error estimate; the confidence
  /// interval where sigma is 0.
  std::optional<Interval> tolerance_interval(double coverage = 0.95, double level = 0.95) const;

  /// The ends of [low, high], either possibly infinite, as values of Student's t: how far they lie
  /// from the mean in units of sqrt(standard_error^2 + sigma^2), the lower one first. Empty without
  /// an error estimate; where the error is 0 they are infinite; high < low where the transform has
  /// no values in the range.
  std::optional<Interval> standardised(double low, double high) const;

  /// The probability that the next run lies in [low, high], either end possibly infinite.
  std::optional<double> probability_within(double low, double high) const;
};

/// How the errors of the predicted means at m points hang together, on the scale of the fit: the
/// means err by of_runs e + own u, where e are the standardised errors of the n runs the surface
/// was fitted to and u others, all independent with variance 1. So two surfaces that were fitted to
/// the same runs share e, and a mean's standard error squared is the sum of squares of its rows.
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

  /// `coded` is m x k, a point a row.
  virtual MeanErrors mean_errors(const Eigen::MatrixXd& coded) const = 0;

  /// predict(coded).response(), where a surface can have it for less.
  virtual double response(const Eigen::Ref<const Eigen::VectorXd>& coded) const {
    return predict(coded).response();
  }

  /// response() and predict() of m points at once; may be called by several threads at a time.
  virtual Eigen::VectorXd responses(const Eigen::MatrixXd& coded) const;
  virtual std::vector<Prediction> predictions(const Eigen::MatrixXd& coded) const;

  /// The residuals of the runs, in the order of the columns of mean_errors; empty where the surface
  /// has none. Any common factor will do: they serve the correlation with other responses' errors.
  virtual Eigen::VectorXd run_residuals() const { return {}; }

  /// The surface as a quadratic of all factors, on the scale of the fit, with categorical factors
  /// at the levels of `coded` (they have no slope then); empty where it is none.
  virtual std::optional<QuadraticForm> quadratic(
      const Eigen::Ref<const Eigen::VectorXd>& /*coded*/) const {
    return std::nullopt;
  }
};

}  // namespace doetune::surfaces
