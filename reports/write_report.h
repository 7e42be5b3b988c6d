// The report on disk.
#pragma once

#include <filesystem>
#include <vector>

#include "reports/analysis.h"

namespace doetune::reports {

/// Writes report.html and one SVG a figure into the folder, making it; each file is replaced whole.
/// Returns the files written, report.html first. Throws study::DirectoryError.
std::vector<std::filesystem::path> write_report(const Analysis& analysis,
                                                const std::filesystem::path& folder);

/// The same into the study directory's report/.
std::vector<std::filesystem::path> write_report(const Analysis& analysis);

}  // namespace doetune::reports
