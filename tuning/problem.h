// What a search is about, and what is known so far; independent of study directories.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "doe/factor.h"
#include "doe/region.h"
#include "surfaces/goal.h"
#include "surfaces/models/feasibility.h"
#include "surfaces/transform.h"

namespace doetune::tuning {

using Settings = std::vector<double>;  ///< one per factor, natural units

/// A response with a goal. Ramps without ends get them from what was measured.
struct Objective {
  std::string name;
  surfaces::Goal goal;
  surfaces::Transform transform = surfaces::Transform::kNone;
};

struct Problem {
  std::vector<doe::Factor> factors;
  doe::Region region;
  std::vector<Objective> objectives;  ///< at least one
  surfaces::InfeasibleDirections infeasible_when = {};
  std::map<std::string, double> capacities = {};  ///< by response: see surfaces/models/headroom.h
  double feasibility = 0.95;  ///< the probability of completing of what is recommended
  std::uint64_t seed = 0;
};

/// A run that has ended.
struct Observation {
  Settings settings;
  bool completed = true;                 ///< false: these settings cannot run
  std::map<std::string, double> values;  ///< of the responses, if it completed
};

}  // namespace doetune::tuning
