// The sections of the page, and what they are written from.
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

/// All that a page is written from: the analysis and what follows from it, worked out once.
struct Page {
  const analysis::Analysis& analysis;
  analysis::Verdict verdict;
  std::vector<Figure> profiles;
  std::vector<Figure> contours;
  analysis::DesignQuality quality;
  std::vector<Figure> trade_offs;
  std::vector<Figure> effects;
  std::vector<Figure> half_normals;
  std::vector<Figure> perturbations;
  std::vector<Figure> interactions;
  std::vector<Figure> tornados;
  std::vector<std::vector<Figure>> diagnostics;  ///< of each response
  std::vector<Figure> design;
};

Page make_page(const analysis::Analysis& analysis);

/// All figures of the page.
std::vector<const Figure*> figures_of(const Page& page);

/// A part of the page under its own heading. A new one is a source file and a line in html.cpp.
struct Section {
  std::string_view id;  ///< the anchor
  std::string_view title;
  bool (*applies)(const analysis::Analysis&);  ///< a section with nothing to show is left out
  void (*write)(const Page&, Markup&);
};

std::span<const Section> sections();

/// Those with something to show.
std::vector<Section> shown_sections(const analysis::Analysis& analysis);

void write_answer(const Page& page, Markup& out);
void write_explore(const Page& page, Markup& out);
void write_trade_off(const Page& page, Markup& out);
void write_effects(const Page& page, Markup& out);
void write_robustness(const Page& page, Markup& out);
void write_trust(const Page& page, Markup& out);
void write_design(const Page& page, Markup& out);
void write_runs(const Page& page, Markup& out);
void write_provenance(const Page& page, Markup& out);

}  // namespace doetune::reports
