// Everything that can be said of a design before it is run.
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
  double effect = 1;         ///< a coefficient worth finding, in error standard deviations
  double alpha = 0.05;       ///< significance level of the tests whose power is reported
  double time_limit_s = 10;  ///< of the proof of the largest variance
};

/// Properties of a design. Variances are in units of the error variance. What a singular design
/// does not have is empty.
struct FullEvaluation {
  Evaluation basics;
  std::optional<MaxVariance> max_variance;
  std::optional<double> g_efficiency;        ///< 100 p / (n max d), percent, of the maximum found
  std::optional<double> g_efficiency_least;  ///< the same of its upper bound: it is no less
  std::optional<double> average_variance;    ///< of predictions over the region: I-optimality
  std::vector<double> variance_quantiles;    ///< fraction of design space 0, 0.05 ... 1
  std::vector<double> leverages;             ///< of each run
  std::vector<TermPower> powers;
  NamedMatrix aliases;      ///< alias_matrix; no entries where the design is singular
  NamedMatrix correlation;  ///< correlation_map
  std::vector<std::string> alias_sets;
  std::optional<double> min_distance;  ///< on the unit cube, of two runs or more
  std::optional<double> centered_l2;   ///< of the numeric factors
};

/// Takes the time of max_variance and of work that grows with runs^2. What concerns the region is
/// empty too where no allowed point is found in it. The quantiles are those of
/// the variance at up to 10,000 points of region_sample; the last is the maximum found.
///
/// Source of the fraction of design space: Zahran, Anderson-Cook & Myers (2003), Journal of Quality
/// Technology 35, 377-386.
FullEvaluation evaluate_fully(const Model& model, const Region& region,
                              const Eigen::MatrixXd& coded, const EvaluationOptions& options = {});

}  // namespace doetune::doe
