// Writes the report to disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::reports {

/// The files of a report, each written atomically.
struct ReportFiles {
  std::vector<std::filesystem::path> pages;    ///< one per format, in order
  std::vector<std::filesystem::path> figures;  ///< figures/NAME.svg

  std::vector<std::filesystem::path> all() const;
};

/// Writes the report in the named formats, from report_formats(), and one SVG per figure into the
/// folder, creating it. Throws study::DirectoryError.
ReportFiles write_report(const analysis::Analysis& analysis, const std::filesystem::path& folder,
                         const std::vector<std::string>& formats = {"html"});

/// Writes the HTML page and its figures into report/ of the study directory.
ReportFiles write_report(const analysis::Analysis& analysis);

/// Writes fit.json and optimum.json into the study directory. Throws study::DirectoryError.
void write_answers(const analysis::Analysis& analysis);

}  // namespace doetune::reports
