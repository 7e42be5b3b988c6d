// The formats of the report, all generated from the same page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_format_fwd.h"
#include "reports/page/section.h"

namespace doetune::reports {

struct ReportFormat {
  std::string_view name;  ///< as on the command line
  std::string_view file;  ///< file name in the report directory
  std::string (*write)(const Page&);
};

std::span<const ReportFormat> report_formats();

/// The page as HTML (report_page.h).
std::string html_of(const Page& page);

/// The sections of the page as Markdown (CommonMark with GitHub tables); figures are linked as
/// figures/NAME.svg.
std::string markdown_of(const Page& page);

/// The report as JSON: verdict, fit.json, optimum.json, design, runs, findings, figures.
json::Format<Page> report_format(const study::Study& study = {});
std::string json_of(const Page& page);

}  // namespace doetune::reports
