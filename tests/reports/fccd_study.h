// A published study with its measured runs, as a study directory.
#pragma once

#include <filesystem>
#include <string>

#include "study/directory.h"

namespace doetune::tests {

/// The study file; a test may edit its text before it makes the directory.
std::string fccd_study_text();

/// Makes the study directory under `folder` with all 20 runs completed.
study::StudyDirectory make_fccd_study(const std::filesystem::path& folder,
                                      const std::string& study_text = fccd_study_text());

}  // namespace doetune::tests
