// Studies with their runs, as study directories.
#pragma once

#include <filesystem>
#include <string>

#include "study/directory.h"

namespace doetune::tests {

/// The study file; a test may edit its text before it makes the directory.
std::string fccd_study_text();

/// The published face-centred design, under `folder`/fccd with all 20 runs completed.
study::StudyDirectory make_fccd_study(const std::filesystem::path& folder,
                                      const std::string& study_text = fccd_study_text());

/// Made-up runs of everything that the page's scripts must evaluate: a categorical factor, log2 and
/// log10 scales, every transform, a constraint. Under `folder`/mixed.
study::StudyDirectory make_mixed_study(const std::filesystem::path& folder);

/// Made-up runs for every kind of surface but the plain polynomial: Gaussian processes, all
/// parametric models, a variance that follows the settings. Under `folder`/surfaces.
study::StudyDirectory make_surfaces_study(const std::filesystem::path& folder);

/// Made-up runs, some of them infeasible, under constraints of every kind that muParser's grammar
/// has, and a forbidden combination. Under `folder`/constrained.
study::StudyDirectory make_constrained_study(const std::filesystem::path& folder);

/// Made-up runs in whole plots. Under `folder`/split-plot.
study::StudyDirectory make_split_plot_study(const std::filesystem::path& folder);

/// What a report must bear: 50 factors, names and units with markup in them, a response that never
/// changes and one that was never measured. Under `folder`/odd.
study::StudyDirectory make_odd_study(const std::filesystem::path& folder);

}  // namespace doetune::tests
