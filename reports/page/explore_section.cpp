#include "analysis/reference_point.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

/// Placeholder for an interactive contour plot of any two factors, initially those of the static
/// figure.
void write_overlay(const Page& page, Markup& out) {
  if (page.contours.empty()) return;
  Attributes attributes = {{"id", "overlay"}, {"class", "live"}, {"data-figure", "contour"}};
  const Figure& first = page.contours.front();
  attributes.insert(attributes.end(), first.data.begin(), first.data.end());
  out.open("figure", attributes).element("h3", first.title).close();
}

void write_contours(const Page& page, Markup& out) {
  if (page.contours.empty()) return;
  out.open("div");
  out.element("h3", "Contours through " + analysis::reference(page.analysis).name);
  if (const std::string left_out = contours_left_out(page.analysis); !left_out.empty()) {
    out.element("p", left_out);
  }
  write_figures(page.contours, out, "figures pairs");
  out.close();
}

}  // namespace

void write_explore(const Page& page, Markup& out) {
  out.element("p",
              "These figures are drawn at " + analysis::reference(page.analysis).name + ": " +
                  analysis::settings_text(analysis::factors_of(page.analysis),
                                          analysis::reference(page.analysis).settings) +
                  ". If scripts are enabled, sliders change this.",
              {{"class", "static-only"}});
  out.open("div", {{"class", "explore"}});
  out.open("div", {{"id", "settings"}, {"class", "panel"}}).close();
  out.open("div", {{"class", "figures wide"}});
  for (const Figure& figure : page.profiles) write_figure(figure, out);
  write_overlay(page, out);
  out.close().close();
  write_contours(page, out);
}

}  // namespace doetune::reports
