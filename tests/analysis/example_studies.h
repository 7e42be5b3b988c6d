// Example studies with completed runs, as study directories.
#pragma once

#include <filesystem>
#include <string>

#include "study/directory/directory.h"

namespace doetune::tests {

/// The study file, whose text a test may edit before making the directory.
std::string fccd_study_text();

/// The published face-centred design with all 20 runs completed, in `folder`/fccd.
study::StudyDirectory make_fccd_study(const std::filesystem::path& folder,
                                      const std::string& study_text = fccd_study_text());

/// Made-up runs that cover everything that the page's scripts must evaluate: a categorical factor,
/// log2 and log10 scales, every transform, a constraint. In `folder`/mixed.
study::StudyDirectory make_mixed_study(const std::filesystem::path& folder);

/// Made-up runs for every surface type except the plain polynomial: Gaussian processes, all
/// parametric models, a modelled variance. In `folder`/surfaces.
study::StudyDirectory make_surfaces_study(const std::filesystem::path& folder);

/// Made-up runs, some of them infeasible, with constraints that use the whole muParser grammar, and
/// a forbidden combination. In `folder`/constrained.
study::StudyDirectory make_constrained_study(const std::filesystem::path& folder);

/// Made-up runs in whole plots. In `folder`/split-plot.
study::StudyDirectory make_split_plot_study(const std::filesystem::path& folder);

/// Extreme input for reports: 50 factors, names and units that contain markup, a constant response
/// and one that was never measured. In `folder`/odd.
study::StudyDirectory make_odd_study(const std::filesystem::path& folder);

}  // namespace doetune::tests
