// Gain of one choice of settings over another.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// A response at some settings compared with other settings. Both means come from the same runs, so
/// their errors are correlated, and their difference is known more precisely than either.
struct Gain {
  std::string name;
  double difference = 0;             ///< mean at the settings minus mean at the others, own unit
  std::optional<Interval> interval;  ///< of the difference; empty without an error estimate
  std::optional<double> ratio;       ///< of the means; empty unless both are positive
  std::optional<Interval> ratio_interval;  ///< empty if the data do not bound it
};

/// For every response of the request, at request.confidence. The interval of a difference is
/// Student's t, by the delta method for a transformed response. The interval of a ratio is
/// Fieller's (1954, Journal of the Royal Statistical Society B 16, 175); on the log scale the
/// exponential of that of a difference; for logits and powers by the delta method on the logarithm.
std::vector<Gain> gains(const OptimumRequest& request, const std::vector<double>& settings,
                        const std::vector<double>& others);

/// The same for settings that were chosen by the surfaces, over others that were not. Where a
/// response has a posterior, the difference and the ratio are its medians, and the intervals those
/// of its draws.
std::vector<Gain> gains_of_chosen(const OptimumRequest& request,
                                  const std::vector<double>& settings,
                                  const std::vector<double>& others);

/// The same for two means that were measured in separate runs (measured_mean), so that their errors
/// are independent and may have different variances: by Welch's degrees of freedom (1947,
/// Biometrika 34, 28), computed from the errors of the responses for the difference and from their
/// relative errors for the ratio. Without intervals if either is from a single run.
Gain measured_gain(const std::string& name, const Prediction& settings, const Prediction& others,
                   double level = 0.95);

}  // namespace doetune::surfaces
