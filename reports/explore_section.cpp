#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/slice.h"

namespace doetune::reports {

void write_explore(const Page& page, Markup& out) {
  out.element("p",
              "These figures are drawn at " + reference(page.analysis).name + ": " +
                  settings_text(factors_of(page.analysis), reference(page.analysis).settings) +
                  ". Where scripts may run, sliders move them.",
              {{"class", "static-only"}});
  out.open("div", {{"class", "explore"}});
  out.open("div", {{"id", "settings"}, {"class", "panel"}}).close();
  out.open("div", {{"class", "figures wide"}});
  for (const Figure& figure : page.profiles) write_figure(figure, out);
  write_figures(page.contours, out, "figures pairs");
  out.close().close();
}

}  // namespace doetune::reports
