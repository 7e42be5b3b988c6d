// Anything that predicts a response, with its uncertainty, at coded points.
#pragma once

#include <Eigen/Core>
#include <optional>

#include "surfaces/transform.h"

namespace doetune::surfaces {

struct Interval {
  double low = 0;
  double high = 0;
};

/// A prediction on the scale of the fit: the mean response is `mean`, known to `standard_error`;
/// one further run scatters about it with `sigma`. Both come from an error estimate with
/// `df` degrees of freedom (Student's t); without any (df == 0) there are no intervals.
struct Prediction {
  double mean = 0;
  double standard_error = 0;
  double sigma = 0;
  int df = 0;
  Transform transform = Transform::kNone;

  /// The predicted response in its own unit (for a transformed response the median of a run).
  double response() const;

  /// Where the mean response lies, with the given confidence: mean +- t standard_error.
  std::optional<Interval> confidence_interval(double level = 0.95) const;

  /// Where the next run will lie: mean +- t sqrt(standard_error^2 + sigma^2).
  std::optional<Interval> prediction_interval(double level = 0.95) const;

  /// The probability that the next run lies in [low, high], either end possibly infinite.
  std::optional<double> probability_within(double low, double high) const;
};

class Surface {
 public:
  virtual ~Surface() = default;
  virtual Prediction predict(const Eigen::Ref<const Eigen::VectorXd>& coded) const = 0;

  /// predict(coded).response(), where a surface can have it for less.
  virtual double response(const Eigen::Ref<const Eigen::VectorXd>& coded) const {
    return predict(coded).response();
  }
};

}  // namespace doetune::surfaces
