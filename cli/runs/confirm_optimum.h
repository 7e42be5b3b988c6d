// Validates the optimum of a study by new runs.
#pragma once

#include <functional>
#include <string_view>

#include "cli/command.h"
#include "study/directory/directory.h"

namespace doetune::cli {

/// Whether more runs follow a confirmation that ends with this exit code. Only the last one prints
/// its JSON document.
using GoesOn = std::function<bool(int code)>;

/// Makes confirmation runs at the optimum, and at the baseline, until there are `runs` of each,
/// prints the verdict and returns the exit code. With --dry-run among the options nothing is made.
/// The runs of a study without a program are planned, and printed for the user to make.
/// `command` is what continues after an interrupt.
int confirm_optimum(const Options& options, study::StudyDirectory& directory, int runs,
                    std::string_view command, const GoesOn& goes_on = {});

/// Whether there is an optimum, and it is predicted to meet the goals.
bool can_be_confirmed(const study::StudyDirectory& directory);

/// The verdict without further runs, where a search has no means for them or nothing to confirm.
/// Returns the exit code of `confirm`; without confirmation runs, kDone if there is an optimum.
int conclude_unconfirmed(const study::StudyDirectory& directory, bool json);

}  // namespace doetune::cli
