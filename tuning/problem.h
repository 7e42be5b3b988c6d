// What a search is about, and what is known so far; independent of study directories.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"
#include "surfaces/goal.h"
#include "surfaces/models/feasibility.h"
#include "surfaces/surface.h"
#include "surfaces/transform.h"

namespace doetune::tuning {

using Settings = std::vector<double>;  ///< one per factor, natural units

/// A response with a goal. Ramps without ends get them from what was measured.
struct Objective {
  std::string name;
  surfaces::Goal goal;
  surfaces::Transform transform = surfaces::Transform::kNone;
};

/// What runs cost. Proposals are compared by what they are worth per cost, in units of a mean run:
/// (t + [other hard-to-change settings than those in place] change) weight, t the time of the run
/// over the mean time if `by_time`, else 1.
struct RunCost {
  bool by_time = false;
  double change = 0;                                   ///< in units of a mean run
  std::optional<Settings> in_place = {};               ///< empty: any run is a change
  std::function<double(const Settings&)> weight = {};  ///< the number of GPUs; empty: 1
};

struct Problem {
  std::vector<doe::Factor> factors;
  doe::Region region;
  std::vector<Objective> objectives;  ///< at least one
  surfaces::InfeasibleDirections infeasible_when = {};
  std::map<std::string, double> capacities = {};  ///< by response: see surfaces/models/headroom.h
  double feasibility = 0.95;  ///< the probability of completing of what is recommended
  std::uint64_t seed = 0;
  bool front = false;  ///< several goals without preference: their Pareto front is wanted
  RunCost cost = {};
  std::vector<Settings> only = {};   ///< if not empty: all settings that can be run
  std::vector<Settings> tried = {};  ///< settings of runs that ended in any way
  int threads = 0;                   ///< no result depends on it; 0: all hardware threads
};

/// A run that has ended, or one that is under way and assumed to have.
struct Observation {
  Settings settings;
  bool completed = true;                 ///< false: these settings cannot run
  std::map<std::string, double> values;  ///< of the responses, if it completed
  double seconds = 0;                    ///< it took; 0: unknown
  /// Of a run that was ended early, which has no values: the ranges that they would have been in.
  std::map<std::string, surfaces::Interval> bounds = {};

  bool pending = false;  ///< it is under way; the values are those that the models expect

  bool ended_early() const { return !bounds.empty(); }
};

/// Whether two settings agree in every factor that is hard to change.
bool same_whole_plot(const Problem& problem, const Settings& a, const Settings& b);

/// Whether any factor is hard to change.
bool has_whole_plots(const Problem& problem);

}  // namespace doetune::tuning
