// The report as files of several kinds, all from the same page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json_format_fwd.h"
#include "reports/page/section.h"

namespace doetune::reports {

struct ReportFormat {
  std::string_view name;  ///< as the command line has it
  std::string_view file;  ///< in the report's folder
  std::string (*write)(const Page&);
};

std::span<const ReportFormat> report_formats();

/// Of html.h.
std::string html_of(const Page& page);

/// The sections of the page as Markdown (CommonMark with GitHub's tables); figures are referred to
/// as figures/NAME.svg.
std::string markdown_of(const Page& page);

/// The whole report as data: verdict, fit.json, optimum.json, design, runs, findings, figures.
json::Format<Page> report_format(const study::Study& study = {});
std::string json_of(const Page& page);

}  // namespace doetune::reports
