// A study for other programs: the table of its runs, and scripts that fit every response again.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/analysis.h"

namespace doetune::reports {

struct ExportFormat {
  std::string_view name;     ///< as the command line has it: "r"
  std::string_view file;     ///< what it is called in the study directory: "export.R"
  std::string_view summary;  ///< in half a sentence
  std::string_view program;  ///< what runs the file; empty where it is none to run
  std::string_view needs;    ///< packages of Debian that this takes; empty for none
  std::string (*write)(const analysis::Analysis&);
};

/// A new format is a source file and a line of this table.
std::span<const ExportFormat> export_formats();

/// A script for R that holds the runs, codes the factors and fits each response with the terms, the
/// transform, the blocks and the weights of its fit: coefficients, standard errors, sigma and R2
/// are those of fit.json. What lm cannot fit it leaves to nlme (whole plots) and MASS (robust), or
/// says so in a comment.
std::string export_r(const analysis::Analysis& analysis);

/// The same for Python, with pandas and statsmodels.
std::string export_python(const analysis::Analysis& analysis);

}  // namespace doetune::reports
