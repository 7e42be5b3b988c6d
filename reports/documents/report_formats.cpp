#include "reports/documents/report_formats.h"

#include <array>

namespace doetune::reports {
namespace {

constexpr std::array kReportFormats{
    ReportFormat{"html", "report.html", html_of},
    ReportFormat{"md", "report.md", markdown_of},
    ReportFormat{"json", "report.json", json_of},
};

}  // namespace

std::span<const ReportFormat> report_formats() { return kReportFormats; }

}  // namespace doetune::reports
