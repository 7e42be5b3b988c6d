// What becomes of the responses where settings are not held exactly.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// Where a factor may be instead of at its setting, natural units; empty where it cannot move.
struct FactorMoves {
  std::size_t factor = 0;
  std::optional<double> down, up;
};

struct RobustResponse {
  std::string name;
  Interval range;                ///< lowest and highest prediction at the moved settings
  std::optional<double> worst;   ///< the end that suits the goal least, where there is a goal
  std::vector<double> worst_at;  ///< settings of it
  /// The standard deviation that settings pass on to the response if each factor scatters
  /// independently with its move as standard deviation: sqrt(sum (dy/dx)^2 move^2), slopes by
  /// central differences over the moves. Source: NIST/SEMATECH e-Handbook, 2.5.5.
  double transmitted = 0;
};

struct Robustness {
  std::vector<RobustResponse> responses;
  double limits_met_share = 1;  ///< of the moved settings whose mean predictions meet every limit
  /// The least of the probabilities that the next run meets every limit, over the moved settings.
  std::optional<double> least_all_goals_met_probability;
  std::size_t moved_settings = 0;  ///< looked at, the unmoved ones among them
  std::vector<FactorMoves> moves;  ///< of the factors that may move, the region allowing or not
};

/// Every numeric factor that is not held stays or moves up or down by its tolerance (natural
/// units), or where none is stated to the next usable setting; never beyond its range. All
/// combinations of moves for up to eight such factors, beyond that moves of one and two factors;
/// those that the region forbids are left out. Throws std::invalid_argument for a tolerance that is
/// not above 0 or of a factor that does not exist or is categorical.
Robustness robustness(const OptimumRequest& request, const std::vector<double>& settings,
                      const std::map<std::string, double>& tolerances = {});

}  // namespace doetune::surfaces
