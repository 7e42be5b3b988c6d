// More runs for a study that has some.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/directory.h"

namespace doetune::study {

struct Augmentation {
  enum class Kind {
    kOptimal,   ///< the runs that, with those there are, serve a criterion best
    kFoldOver,  ///< the run sheet once more with the factors reversed, or one of them
    kAxial,     ///< two runs a numeric factor on the axes, and centre runs: a screening design
                ///< becomes central composite
  };
  Kind kind = Kind::kOptimal;
  std::string design = "d-optimal";   ///< kOptimal: a design type that adds to existing runs
  int runs = 0;                       ///< kOptimal
  int center_runs = 3;                ///< kAxial
  std::optional<std::string> factor;  ///< kFoldOver: the one that is reversed
  doe::Model model;                   ///< kOptimal: that all runs together must determine
};

/// The plan with runs added after its own, in random order. Runs that completed or are still to be
/// made count as existing; those that failed do not, and settings found infeasible are not proposed
/// again. Throws StudyError for runs that cannot be added.
Plan augmented_plan(const StudyDirectory& directory, const Augmentation& augmentation);

/// The plan with the given runs once more after its own, in their order: replicates with the
/// settings, point type and block of the run that they repeat, in whole plots of their own where it
/// is in one, since its settings are made anew. They have its place in the standard order, which no
/// other runs share: that is how a run which repeats another is known.
Plan repeated_plan(Plan plan, const Study& study, const std::vector<int>& runs);

/// The run, of the plan before any was repeated, that `run` repeats; empty for a run of its own.
std::optional<int> repeated_run(const Plan& plan, int run);

}  // namespace doetune::study
