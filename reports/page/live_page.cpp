#include "reports/page/live_page.h"

#include "reports/markup/markup.h"
#include "reports/page/assets.h"

namespace doetune::reports {
namespace {

/// A line of the state, which live.js fills and shows.
void write_line(std::string_view id, std::string_view title, Markup& out) {
  out.open("div", {{"id", std::string(id)}, {"hidden", ""}});
  out.element("dt", title).element("dd", "").close();
}

void write_state(const std::string& study, Markup& out) {
  out.open("header");
  out.element("h1", study)
      .element("span", "…", {{"id", "phase"}, {"class", "badge neutral"}, {"role", "status"}});
  out.element("progress", "",
              {{"id", "progress"}, {"aria-label", "Runs made"}, {"max", "1"}, {"value", "0"}});
  out.element("span", "", {{"id", "counts"}});
  out.open("dl");
  write_line("best", "Best run", out);
  write_line("running", "Running", out);
  write_line("last", "Ended last", out);
  write_line("ends", "Not completed", out);
  write_line("problem", "Problem", out);
  write_line("file", "Report", out);
  out.close().close();
}

}  // namespace

std::string live_page(const std::string& study) {
  Markup out;
  out.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).open("head");
  out.empty("meta", {{"charset", "utf-8"}});
  out.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  out.element("title", study + " – doetune");
  out.open("style").raw(assets::style).raw(assets::live_style).close();
  out.close().open("body");
  write_state(study, out);
  out.open("main")
      .element("p", "The report appears here when the first run has ended.", {{"class", "quiet"}})
      .close();
  out.open("script").raw(assets::live).close();
  out.close().close();
  return out.take();
}

}  // namespace doetune::reports
