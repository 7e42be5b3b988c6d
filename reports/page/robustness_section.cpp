// Robustness of the optimum: effect of small changes of the settings, uncertainty of its location,
// and shape of the surfaces.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/surface_words.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"

namespace doetune::reports {
namespace {

using Rows = std::vector<std::vector<Cell>>;

std::string uncertainty_text(const doe::Factor& factor,
                             const surfaces::FactorUncertainty& uncertain) {
  if (uncertain.anywhere) return "anywhere";
  if (!factor.is_categorical()) {
    const std::string low = factor.format(factor.snap(uncertain.settings.low));
    const std::string high = factor.format(factor.snap(uncertain.settings.high));
    return low == high ? low : low + " to " + high;
  }
  const std::vector<double>& shares = uncertain.shares;
  std::string text;
  for (std::size_t level = 0; level < shares.size(); ++level) {
    text += fmt::format("{}{} {}", level == 0 ? "" : ", ", factor.level_names[level],
                        analysis::percent(shares[level]));
  }
  return text;
}

void write_uncertainty(const analysis::Analysis& analysis, Markup& out) {
  const auto& uncertainty = analysis.details->uncertainty;
  if (!uncertainty) return;
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  Rows rows;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    const surfaces::FactorUncertainty& uncertain = uncertainty->factors[f];
    rows.push_back({text_cell(analysis::name_with_unit(factors[f].name, factors[f].unit)),
                    {factors[f].format(analysis.optimum->best.settings[f])},
                    text_cell(uncertainty_text(factors[f], uncertain))});
  }
  out.element("h3", "Location of the true optimum");
  out.element(
      "p", fmt::format("{} sets of surfaces were drawn at random from those compatible with the "
                       "runs, and each set was optimised. 90 % of these optima lie in the ranges "
                       "below. \"Anywhere\": no response with a goal depends on the factor.",
                       uncertainty->draws));
  write_table({"Factor", "Best setting", "True optimum, 90 %"}, rows, out, WhenNarrow::kList);
}

void write_one_step(const analysis::Analysis& analysis, Markup& out) {
  const surfaces::Robustness& robustness = analysis.details->robustness;
  Rows rows;
  for (const surfaces::RobustResponse& response : robustness.responses) {
    rows.push_back({text_cell(analysis::name_with_unit(response.name,
                                                       analysis::unit_of(analysis, response.name))),
                    text_cell(analysis::interval_text(response.range)),
                    {analysis::number_to(response.transmitted, response.transmitted),
                     analysis::exact_number(response.transmitted)}});
  }
  out.element("h3", "If a setting is one step off");
  const bool limited = std::any_of(analysis.goals.begin(), analysis.goals.end(),
                                   [](const auto& goal) { return goal.second.is_limit(); });
  const std::string kept =
      limited ? fmt::format(" {} of these configurations meet every limit.",
                            robustness.limits_met_fraction == 1
                                ? "All"
                                : analysis::percent(robustness.limits_met_fraction))
              : "";
  const std::string completes =
      robustness.min_feasibility ? fmt::format(" Each completes with a probability of at least {}.",
                                               analysis::chance_text(*robustness.min_feasibility))
                                 : "";
  out.element(
      "p",
      fmt::format("Predictions with numeric factors moved by one usable step (continuous "
                  "ones without a step: a twentieth of their range), alone and "
                  "together with others ({}).{} Propagated standard deviation: "
                  "the scatter of a response if settings scatter by these steps.",
                  analysis::count_of(static_cast<int>(robustness.moved_settings), "configuration"),
                  kept + completes));
  write_table({"Response", "Lowest to highest", "Propagated standard deviation"}, rows, out,
              WhenNarrow::kList);
}

void write_shapes(const analysis::Analysis& analysis, Markup& out) {
  Rows rows;
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (!response.fit) continue;
    rows.push_back(
        {text_cell(response.response.name), prose_cell(analysis::shape_words(analysis, response))});
  }
  out.element("h3", "Shape of the surfaces");
  write_table({"Response", "Shape"}, rows, out, WhenNarrow::kList);
}

}  // namespace

void write_robustness(const Page& page, Markup& out) {
  if (page.analysis.optimum && page.analysis.details) {
    write_one_step(page.analysis, out);
    if (page.tornados.empty()) {
      out.element("p",
                  "No factor can be moved by a step: all are categorical or fixed, or the "
                  "step is not allowed.");
    }
    write_figures(page.tornados, out, "figures pairs");
    write_uncertainty(page.analysis, out);
  } else {
    out.element("p", "Without an optimum, its robustness cannot be assessed.");
  }
  write_shapes(page.analysis, out);
}

}  // namespace doetune::reports
