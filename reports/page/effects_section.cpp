#include "analysis/effects.h"
#include "analysis/format.h"
#include "analysis/level_words.h"
#include "analysis/reference_point.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

void write_coefficients(const analysis::ResponseAnalysis& response, Markup& out) {
  open_details("Coefficients of " + response.response.name, out);
  std::vector<std::vector<Cell>> rows;
  for (const analysis::Effect& effect : analysis::effects_of(*response.fit)) {
    rows.push_back({text_cell(effect.term), number_cell(effect.estimate),
                    effect.interval ? Cell{analysis::interval_text(*effect.interval)} : Cell{"–"},
                    number_cell(effect.std_error), number_cell(effect.t),
                    effect.p ? Cell{analysis::p_text(*effect.p), analysis::exact_number(*effect.p)}
                             : Cell{"–"},
                    number_cell(effect.vif)});
  }
  write_table({"Term", "Estimate", "95 % interval", "Standard error", "t", "p", "VIF"}, rows, out);
  out.close();
}

/// One row per categorical factor and response.
void write_levels(const analysis::Analysis& analysis, Markup& out) {
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  std::vector<std::vector<Cell>> rows;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) continue;
    for (const analysis::ResponseAnalysis& response : analysis.responses) {
      if (response.surface() == nullptr) continue;
      rows.push_back({text_cell(factors[f].name), text_cell(response.response.name),
                      prose_cell(analysis::capitalised(analysis::level_words(analysis, response,
                                                                             static_cast<int>(f))) +
                                 ".")});
    }
  }
  if (rows.empty()) return;
  out.element("h3", "Effects of levels");
  out.element("p", "Predicted means, all other factors at " + analysis::reference(analysis).name +
                       ". Levels joined by \"or\" do not differ significantly.");
  write_table({"Factor", "Response", "Levels"}, rows, out, WhenNarrow::kList);
}

}  // namespace

void write_effects(const Page& page, Markup& out) {
  write_figures(page.effects, out, "figures pairs");
  if (!page.half_normals.empty()) {
    out.element("h3", "Without an error estimate");
    write_figures(page.half_normals, out, "figures pairs");
  }
  if (!page.perturbations.empty()) {
    out.element("h3", "All factors from the same point");
    write_figures(page.perturbations, out, "figures pairs");
  }
  write_levels(page.analysis, out);
  out.element("h3", "Which factors interact");
  if (page.interactions.empty()) {
    out.element("p", "The surfaces have no interactions: the effects of the factors add up.");
  } else {
    write_figures(page.interactions, out, "figures pairs");
  }
  for (const analysis::ResponseAnalysis& response : page.analysis.responses) {
    if (response.fit) write_coefficients(response, out);
  }
}

}  // namespace doetune::reports
