// The report as one HTML page that opens offline.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "reports/figures/figures.h"

namespace doetune::reports {

struct Report {
  std::string html;
  std::vector<Figure> figures;  ///< the static figures of the page
};

/// One self-contained page: settings and predictions first, then what they rest on. All tables and
/// figures are in it as static HTML and SVG; scripts, also in it, add sliders and interactive
/// plots. The page asks browsers to refuse any network access on its behalf. Any analysis has a
/// report: what is missing is said where it would stand.
Report make_report(const analysis::Analysis& analysis);

std::string report_html(const analysis::Analysis& analysis);

}  // namespace doetune::reports
