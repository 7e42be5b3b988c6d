// The report as one self-contained HTML page that works offline.
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

/// One self-contained page: settings and predictions first, then the evidence. All tables and
/// figures are included as static HTML and SVG; embedded scripts add sliders and interactive plots.
/// The page tells browsers to block all network access. Every analysis has a report: missing parts
/// are explained in their place.
Report make_report(const analysis::Analysis& analysis);

std::string report_html(const analysis::Analysis& analysis);

}  // namespace doetune::reports
