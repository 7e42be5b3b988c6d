#include "reports/page/report_page.h"

#include <algorithm>
#include <array>
#include <functional>

#include "analysis/search_story.h"
#include "base/parallel.h"
#include "reports/page/assets.h"
#include "reports/page/report_data.h"
#include "reports/page/section.h"

namespace doetune::reports {
namespace {

bool always(const analysis::Analysis&) { return true; }

bool has_fit(const analysis::Analysis& analysis) {
  return std::any_of(
      analysis.responses.begin(), analysis.responses.end(),
      [](const analysis::ResponseAnalysis& response) { return response.fit.has_value(); });
}

bool has_optimum(const analysis::Analysis& analysis) {
  return analysis.optimum && analysis.details;
}

bool was_searched(const analysis::Analysis& analysis) {
  return analysis::search_story(analysis).has_value();
}

constexpr std::array kSections{
    Section{"answer", "Answer", always, write_answer},
    Section{"explore", "Explore", has_fit, write_explore},
    Section{"search", "The search", was_searched, write_search},
    Section{"trade-off", "Trade-off", has_optimum, write_trade_off},
    Section{"effects", "What matters", has_fit, write_effects},
    Section{"robustness", "Robustness", has_fit, write_robustness},
    Section{"trust", "Can I trust it?", has_fit, write_trust},
    Section{"design", "The design", always, write_design},
    Section{"runs", "Runs", always, write_runs},
    Section{"provenance", "Provenance", always, write_provenance},
};

// Blocks all network requests, whatever the page contains.
constexpr const char* kContentPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: "
    "blob:";

void write_head(const Page& page, Markup& out) {
  out.open("head");
  out.empty("meta", {{"charset", "utf-8"}});
  out.empty("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", kContentPolicy}});
  out.empty("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.empty("meta", {{"name", "color-scheme"}, {"content", "light dark"}});
  out.element("title", page.analysis.directory->study.name + " – doetune report");
  out.open("style").raw(assets::style).close();
  out.close();
}

void write_header(const Page& page, const std::vector<Section>& shown, Markup& out) {
  out.open("header").element("h1", page.analysis.directory->study.name);
  out.open("nav", {{"aria-label", "Sections"}});
  for (const Section& section : shown) {
    out.element("a", section.title, {{"href", "#" + std::string(section.id)}});
  }
  out.close().close();
}

void write_scripts(const Page& page, Markup& out) {
  const std::string data =
      report_data(page.analysis).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  out.open("script", {{"type", "application/json"}, {"id", "report-data"}});
  out.raw(escape_json_for_script(data)).close();
  for (const std::string_view script :
       {assets::format, assets::constraints, assets::student, assets::transforms,
        assets::polynomials, assets::kriging, assets::parametric_models, assets::evaluate,
        assets::address, assets::settings, assets::drawing, assets::profiles, assets::contour_lines,
        assets::contour_plot, assets::surface, assets::contours, assets::downloads, assets::tables,
        assets::report}) {
    out.open("script").raw(script).close();
  }
}

}  // namespace

std::string html_of(const Page& page) {
  const std::vector<Section> shown = shown_sections(page.analysis);
  Markup out;
  out.raw("<!DOCTYPE html>\n").open("html", {{"lang", "en"}});
  write_head(page, out);
  out.open("body");
  write_header(page, shown, out);
  out.open("main");
  for (const Section& section : shown) {
    out.open("section", {{"id", std::string(section.id)}}).element("h2", section.title);
    section.write(page, out);
    out.close();
  }
  out.close();
  write_scripts(page, out);
  out.close().close();
  return out.take();
}

std::span<const Section> sections() { return kSections; }

std::vector<Section> shown_sections(const analysis::Analysis& analysis) {
  std::vector<Section> shown;
  for (const Section& section : sections()) {
    if (section.applies(analysis)) shown.push_back(section);
  }
  return shown;
}

Page make_page(const analysis::Analysis& analysis) {
  Page page{.analysis = analysis,
            .verdict = analysis::verdict(analysis),
            .profiles = {},
            .contours = {},
            .searches = {},
            .quality = analysis::design_quality(analysis),
            .trade_offs = {},
            .effects = {},
            .half_normals = {},
            .perturbations = {},
            .interactions = {},
            .tornados = {},
            .diagnostics = std::vector<std::vector<Figure>>(analysis.responses.size()),
            .design = {}};
  std::vector<std::function<void()>> parts{
      [&] { page.contours = contour_figures(analysis); },
      [&] { page.profiles = profile_figures(analysis); },
      [&] { page.searches = search_figures(analysis); },
      [&] { page.trade_offs = trade_off_figures(analysis); },
      [&] { page.effects = effect_figures(analysis); },
      [&] { page.half_normals = half_normal_figures(analysis); },
      [&] { page.perturbations = perturbation_figures(analysis); },
      [&] { page.interactions = interaction_figures(analysis); },
      [&] { page.tornados = tornado_figures(analysis); },
      [&] { page.design = design_figures(analysis, page.quality); }};
  for (std::size_t r = 0; r < analysis.responses.size(); ++r) {
    parts.emplace_back([&, r] { page.diagnostics[r] = diagnostic_figures(analysis.responses[r]); });
  }
  parallel_for(static_cast<int>(parts.size()), 0,
               [&](int part) { parts[static_cast<std::size_t>(part)](); });
  return page;
}

std::vector<const Figure*> figures_of(const Page& page) {
  std::vector<const Figure*> figures;
  const auto take = [&](const std::vector<Figure>& group) {
    for (const Figure& figure : group) figures.push_back(&figure);
  };
  for (const std::vector<Figure>* group :
       {&page.profiles, &page.contours, &page.searches, &page.trade_offs, &page.effects,
        &page.half_normals, &page.perturbations, &page.interactions, &page.tornados}) {
    take(*group);
  }
  for (const std::vector<Figure>& group : page.diagnostics) take(group);
  take(page.design);
  return figures;
}

Report make_report(const analysis::Analysis& analysis) {
  const Page page = make_page(analysis);
  Report report{html_of(page), {}};
  for (const Figure* figure : figures_of(page)) report.figures.push_back(*figure);
  return report;
}

std::string report_html(const analysis::Analysis& analysis) { return html_of(make_page(analysis)); }

}  // namespace doetune::reports
