#include <fmt/format.h>

#include "reports/section.h"
#include "reports/section_parts.h"
#include "reports/slice.h"

namespace doetune::reports {

namespace {

std::string surface_words(const ResponseAnalysis& response) {
  if (response.other) return "a " + response.kind;
  return response.fit->split_plot ? "fitted with an error of whole plots"
                                  : "fitted with a scatter that follows the settings";
}

}  // namespace

void write_explore(const Page& page, Markup& out) {
  out.element("p",
              "These figures are drawn at " + reference(page.analysis).name + ": " +
                  settings_text(factors_of(page.analysis), reference(page.analysis).settings) +
                  ". Where scripts may run, sliders move them.",
              {{"class", "static-only"}});
  for (const ResponseAnalysis& response : page.analysis.responses) {
    if (!response.fit || response.is_plain_polynomial()) continue;
    out.element("p",
                fmt::format("The figures of {} do not move with the sliders: its surface is {}.",
                            response.response.name, surface_words(response)));
  }
  out.open("div", {{"class", "explore"}});
  out.open("div", {{"id", "settings"}, {"class", "panel"}}).close();
  out.open("div", {{"class", "figures wide"}});
  for (const Figure& figure : page.profiles) write_figure(figure, out);
  write_figures(page.contours, out, "figures pairs");
  out.close().close();
}

}  // namespace doetune::reports
