// What one choice of settings gains over another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// A response at some settings against the same at others. The two means come from the same runs,
/// so that their errors are correlated and their difference is known better than either.
struct Gain {
  std::string name;
  double difference = 0;             ///< mean at the settings less mean at the others, own unit
  std::optional<Interval> interval;  ///< of the difference; empty without an error estimate
  std::optional<double> ratio;       ///< of the means; empty unless both are above 0
  std::optional<Interval> ratio_interval;  ///< empty where the data do not bound it
};

/// Of every response of the request, at request.confidence. The interval of a difference is
/// Student's t; for a transformed response by the delta method. That of a ratio is Fieller's (1954,
/// Journal of the Royal Statistical Society B 16, 175), on the log scale the exponential of a
/// difference, for logits and powers that of the logarithm's delta method.
std::vector<Gain> gains(const OptimumRequest& request, const std::vector<double>& settings,
                        const std::vector<double>& others);

/// The same of two means that were measured in runs of their own (measured_mean), so that their
/// errors are independent and need not be alike: by Welch's degrees of freedom (1947, Biometrika
/// 34, 28), worked out from the errors of the responses for the difference and from their relative
/// errors for the ratio. Without intervals where either is of one run.
Gain measured_gain(const std::string& name, const Prediction& settings, const Prediction& others,
                   double level = 0.95);

}  // namespace doetune::surfaces
