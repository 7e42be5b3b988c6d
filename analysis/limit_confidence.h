// The confidence with which limits are met at the recommended settings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::analysis {

/// Of one limit, by what is promised of settings that were chosen: the probability that the next
/// run meets it, or the mean if the limit is of the mean.
struct LimitConfidence {
  std::string response;
  double probability = 0;
  double wanted = 0;

  bool is_reached() const;
  /// "yes" from the confidence wanted and one half, otherwise "likely" or "unlikely".
  std::string word() const;
};

/// Of each limit at the best settings that has an error estimate, in the order of the responses.
std::vector<LimitConfidence> limit_confidences(const surfaces::OptimumRequest& request,
                                               const surfaces::Candidate& candidate);

/// The same for the optimum of an analysis; it must exist. Empty for a response without it.
std::optional<LimitConfidence> limit_confidence(const Analysis& analysis,
                                                const std::string& response);

/// find_optimum asks the surfaces for the confidence of limits, and they know nothing of having
/// chosen the settings. Where the posteriors promise less than was wanted, and there are few
/// settings, this asks the surfaces for more in further searches, but for no more than needed and
/// not at the price of a ramp out of reach. Where no settings promise what was wanted, those count
/// as equal that promise nearly as much as the surest, with a tail half as large again. The
/// confidences in `request` become those that the surfaces were asked for.
surfaces::Optimum find_confident_optimum(surfaces::OptimumRequest& request);

}  // namespace doetune::analysis
