// All properties of a design that are known before it is run.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "doe/evaluation.h"
#include "doe/evaluation/aliasing.h"
#include "doe/evaluation/max_variance.h"
#include "doe/evaluation/power.h"
#include "doe/region.h"

namespace doetune::doe {

struct EvaluationOptions {
  double effect = 1;         ///< coefficient to detect, in error standard deviations
  double alpha = 0.05;       ///< significance level of the tests whose power is reported
  double time_limit_s = 10;  ///< for the proof of the maximum variance
};

/// Properties of a design. Variances are in units of the error variance. Properties that a singular
/// design does not have are empty.
struct FullEvaluation {
  Evaluation basics;
  std::optional<MaxVariance> max_variance;
  std::optional<double> g_efficiency;        ///< 100 p / (n max d), percent, at the maximum found
  std::optional<double> g_efficiency_least;  ///< the same at its upper bound: a lower limit
  std::optional<double> average_variance;    ///< of predictions over the region: I-optimality
  std::vector<double> variance_quantiles;    ///< fractions of design space 0, 0.05 ... 1
  std::vector<double> leverages;             ///< of each run
  std::vector<TermPower> powers;
  NamedMatrix aliases;      ///< alias_matrix; no entries where the design is singular
  NamedMatrix correlation;  ///< correlation_map
  std::vector<std::string> alias_sets;
  std::optional<double> min_distance;  ///< on the unit cube; needs two runs or more
  std::optional<double> centered_l2;   ///< of the numeric factors
};

/// Takes the time of max_variance and work quadratic in the number of runs. Properties of the
/// region are also empty if no allowed point is found in it. The quantiles are those of the
/// variance at up to 10,000 points of region_sample; the last is the maximum found.
///
/// Source of the fraction-of-design-space plot: Zahran, Anderson-Cook & Myers (2003), Journal of
/// Quality Technology 35, 377-386.
FullEvaluation evaluate_fully(const Model& model, const Region& region,
                              const Eigen::MatrixXd& coded, const EvaluationOptions& options = {});

}  // namespace doetune::doe
