// Writes report.md.
#include "reports/documents/markdown.h"
#include "reports/documents/report_formats.h"

namespace doetune::reports {

std::string markdown_of(const Page& page) {
  Markdown out;
  out.element("h1", page.analysis.directory->study.name);
  for (const Section& section : shown_sections(page.analysis)) {
    out.open("section").element("h2", section.title);
    section.write(page, out);
    out.close();
  }
  return out.markdown();
}

}  // namespace doetune::reports
