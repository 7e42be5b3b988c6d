// The report on disk.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/analysis.h"

namespace doetune::reports {

/// The files of a report, each replaced whole.
struct ReportFiles {
  std::vector<std::filesystem::path> pages;    ///< of the formats, in their order
  std::vector<std::filesystem::path> figures;  ///< figures/NAME.svg

  std::vector<std::filesystem::path> all() const;
};

/// Writes the report in the formats named, of report_formats(), and one SVG a figure into the
/// folder, making it. Throws study::DirectoryError.
ReportFiles write_report(const analysis::Analysis& analysis, const std::filesystem::path& folder,
                         const std::vector<std::string>& formats = {"html"});

/// The page and its figures, into the study directory's report/.
ReportFiles write_report(const analysis::Analysis& analysis);

}  // namespace doetune::reports
