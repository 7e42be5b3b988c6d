// The sections of the report page and their input.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/design_quality.h"
#include "analysis/verdict.h"
#include "reports/figures/figures.h"
#include "reports/markup/markup.h"

namespace doetune::reports {

/// The input of a page: the analysis and everything derived from it, computed once.
struct Page {
  const analysis::Analysis& analysis;
  analysis::Verdict verdict;
  std::vector<Figure> profiles;
  std::vector<Figure> contours;
  std::vector<Figure> searches;
  analysis::DesignQuality quality;
  std::vector<Figure> trade_offs;
  std::vector<Figure> effects;
  std::vector<Figure> half_normals;
  std::vector<Figure> perturbations;
  std::vector<Figure> interactions;
  std::vector<Figure> tornados;
  std::vector<std::vector<Figure>> diagnostics;  ///< by response
  std::vector<Figure> design;
};

Page make_page(const analysis::Analysis& analysis);

/// All figures of the page.
std::vector<const Figure*> figures_of(const Page& page);

/// A section of the page; to add one: docs/architecture.md#adding-to-it.
struct Section {
  std::string_view id;  ///< the anchor
  std::string_view title;
  bool (*applies)(const analysis::Analysis&);  ///< whether there is anything to show
  void (*write)(const Page&, Markup&);
};

std::span<const Section> sections();

/// The sections with something to show.
std::vector<Section> shown_sections(const analysis::Analysis& analysis);

void write_answer(const Page& page, Markup& out);
void write_explore(const Page& page, Markup& out);
void write_search(const Page& page, Markup& out);
void write_trade_off(const Page& page, Markup& out);
void write_effects(const Page& page, Markup& out);
void write_robustness(const Page& page, Markup& out);
void write_trust(const Page& page, Markup& out);
void write_design(const Page& page, Markup& out);
void write_runs(const Page& page, Markup& out);
void write_provenance(const Page& page, Markup& out);

}  // namespace doetune::reports
