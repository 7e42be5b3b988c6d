// Augments the plan of a study: optimal augmentation, fold-over, axial runs, replicates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/directory/directory.h"

namespace doetune::study {

struct Augmentation {
  enum class Kind {
    kOptimal,   ///< optimal augmentation: runs chosen by a criterion, given the existing runs
    kFoldOver,  ///< mirror runs: all factors reversed, or only one
    kAxial,  ///< two axial runs per numeric factor, and centre runs: turns a screening design into
             ///< a central composite design
  };
  Kind kind = Kind::kOptimal;
  std::optional<doe::Region> region;  ///< where runs may be added; empty: the study's
  std::string design = "d-optimal";   ///< kOptimal: a design type that can augment existing runs
  int runs = 0;                       ///< kOptimal
  int center_runs = 3;                ///< kAxial
  std::optional<std::string> factor;  ///< kFoldOver: the only factor to reverse
  doe::Model model;                   ///< kOptimal: the model that all runs together must determine
  bool include_confirmation =
      false;  ///< kOptimal: confirmation and baseline runs count as existing
};

/// The plan with new runs appended in random order. Completed and pending runs count as existing;
/// failed ones do not, and settings found infeasible are not proposed again. Throws StudyError if
/// no such runs can be added.
Plan augmented_plan(const StudyDirectory& directory, const Augmentation& augmentation);

/// The plan with replicates of the given runs appended, in that order. A replicate copies the
/// settings, point type and block of its original; if that is in a whole plot, the replicate gets a
/// whole plot of its own, since its settings are reset. It also copies the position in the
/// standard order, which identifies it as a replicate: no other runs share one.
Plan repeated_plan(Plan plan, const Study& study, const std::vector<int>& runs);

/// The original run that `run` replicates; empty if `run` is an original.
std::optional<int> repeated_run(const Plan& plan, int run);

}  // namespace doetune::study
