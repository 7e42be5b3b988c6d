// Sensitivity of the responses to settings that are not held exactly.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "surfaces/optimum.h"

namespace doetune::surfaces {

/// The settings a factor may drift to, natural units; empty if it cannot move.
struct FactorMoves {
  std::size_t factor = 0;
  std::optional<double> down, up;
};

struct RobustResponse {
  std::string name;
  Interval range;                ///< minimum and maximum prediction at the moved settings
  std::optional<double> worst;   ///< the end that suits the goal least, if there is a goal
  std::vector<double> worst_at;  ///< its settings
  /// The standard deviation transmitted to the response if each factor varies independently with
  /// its move as standard deviation: sqrt(sum (dy/dx)^2 move^2), slopes by central differences over
  /// the moves. Source: NIST/SEMATECH e-Handbook, 2.5.5.
  double transmitted = 0;
};

struct Robustness {
  std::vector<RobustResponse> responses;
  double limits_met_fraction = 1;  ///< fraction of the moved settings whose mean predictions meet
                                   ///< every limit
  /// The minimum probability that the next run meets every limit, over the settings themselves and
  /// the moved ones where it is least by the surfaces; the posteriors' where responses have them.
  std::optional<double> min_all_goals_met_probability;
  /// The minimum probability that a run completes, over the moved settings; empty without a model.
  std::optional<double> min_feasibility;
  std::size_t moved_settings = 0;  ///< number evaluated, including the unmoved one
  std::vector<FactorMoves> moves;  ///< of all factors that may move, whether the region allows it
                                   ///< or not
};

/// Every numeric factor that is not held stays or moves up or down by its tolerance (natural units)
/// or, if none is given, to the next usable setting, a continuous factor without a step by a
/// twentieth of its range on its scale; never beyond its range. All combinations of
/// moves for up to eight such factors, beyond that moves of one and two factors; combinations that
/// the region forbids are omitted. Throws std::invalid_argument for a tolerance that is not
/// positive, or of an unknown or categorical factor.
Robustness robustness(const OptimumRequest& request, const std::vector<double>& settings,
                      const std::map<std::string, double>& tolerances = {});

}  // namespace doetune::surfaces
