// The design for a study that names none.
#pragma once

#include <string>
#include <vector>

#include "doe/design.h"

namespace doetune::doe {

struct ProposedDesign {
  std::string type;
  DesignOptions options;
  std::string model;        ///< that the design determines, a name of Model::names()
  int runs = 0;             ///< before constraints
  std::string next_better;  ///< what to write in the study file, and what it costs
};

/// The cheapest design that shows which settings of these factors are best (docs/designs.md):
///
///   two-level factors      up to 4: full factorial; 5: D-optimal for interactions;
///                          more: a fraction of resolution IV for main effects
///   categorical factors    one: every level twice; several: every combination if these are few,
///                          otherwise D-optimal for main effects
///   up to 3 numeric        face-centred central composite
///   up to 5, or mixed      I-optimal for the quadratic model
///   6 or more              definitive screening, or D-optimal for the pure quadratic model
///
/// Central composite and screening designs only without constraints, factors that are hard to
/// change and categorical factors (screening: of more than two levels).
ProposedDesign propose_design(const std::vector<Factor>& factors, const Region& region);

}  // namespace doetune::doe
