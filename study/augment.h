// More runs for a study that has some.
#pragma once

#include <optional>
#include <string>

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

}  // namespace doetune::study
