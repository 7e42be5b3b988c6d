// Exports a study as a table of its runs and as scripts that refit every response.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "reports/exports/plan_export.h"

namespace doetune::reports {

struct ExportFormat {
  std::string_view name;     ///< as on the command line: "r"
  std::string_view file;     ///< file name in the study directory: "export.R"
  std::string_view summary;  ///< short description
  std::string_view program;  ///< interpreter of the file; empty if it is not a program
  std::string_view needs;    ///< required Debian packages; empty if none
  std::string (*write)(const analysis::Analysis&);  ///< null for a plan
  /// A plan for another tool: `file` is then a folder.
  std::vector<ExportedFile> (*write_plan)(const study::StudyDirectory&,
                                          const TheirNames&) = nullptr;
};

/// To add a format, write a source file and a line of this table.
std::span<const ExportFormat> export_formats();

/// An R script that contains the runs, codes the factors and fits each response with the terms,
/// transform, blocks and weights of its fit: coefficients, standard errors, sigma and R2 agree with
/// fit.json. Fits beyond lm use nlme (whole plots) and MASS (robust), or are replaced by a comment.
std::string export_r(const analysis::Analysis& analysis);

/// Like export_r for Python, with pandas and statsmodels.
std::string export_python(const analysis::Analysis& analysis);

}  // namespace doetune::reports
