#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/effects.h"
#include "analysis/format.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxEffectsNamed = 8;

void draw_margin(Chart& chart, const Axis& y, double at, const char* name, const char* dashes) {
  chart.line({{at, y.low}, {at, y.high}},
             {{"stroke", "currentColor"}, {"stroke-dasharray", dashes}});
  chart.tag({at, y.low}, name, 3, -8);
}

/// Least-squares slope of the line from the origin through the terms within the margin.
double slope_within(const std::vector<analysis::Effect>& effects,
                    const std::vector<double>& quantiles, double margin) {
  double products = 0, squares = 0;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const double size = std::abs(effects[i].estimate);
    if (size > margin) continue;
    products += size * quantiles[effects.size() - 1 - i];
    squares += size * size;
  }
  return squares > 0 ? products / squares : 0;
}

Figure half_normal_figure(const analysis::ResponseAnalysis& response,
                          const analysis::SaturatedEffects& saturated) {
  const std::vector<analysis::Effect>& effects = saturated.effects;
  const surfaces::LenthMargins& margins = saturated.margins;
  const std::vector<double> quantiles =
      surfaces::half_normal_quantiles(static_cast<int>(effects.size()));
  Figure figure;
  figure.name = "half-normal-" + file_part(response.response.name);
  figure.title = analysis::effects_conclusion(response);
  figure.caption = fmt::format(
      "Half-normal plot: terms without effect follow the line. One in twenty of them lies beyond "
      "the margin of error ME ({1}); in one of twenty such experiments at least one lies beyond "
      "the simultaneous margin SME ({2}). Both are from Lenth's pseudo standard error ({0}). Terms "
      "are scaled to the same variance.",
      analysis::short_number(margins.pseudo_error), analysis::short_number(margins.margin),
      analysis::short_number(margins.simultaneous_margin));
  const double largest = std::abs(effects.front().estimate);
  const Axis x = linear_axis(
      analysis::name_with_unit("absolute size of the term", analysis::fitted_unit(response)), 0,
      1.08 * std::max(largest, margins.margin));
  const Axis y = linear_axis("half-normal quantile", 0, quantiles.back());
  Chart chart(figure.name, x, y);
  chart.grid_lines();
  const double slope = slope_within(effects, quantiles, margins.margin);
  if (slope > 0) {
    chart.line({{0, 0}, {9 / slope, 9}}, {{"stroke", "currentColor"}, {"stroke-opacity", "0.5"}});
  }
  draw_margin(chart, y, margins.margin, "ME", "5 4");
  draw_margin(chart, y, margins.simultaneous_margin, "SME", "2 3");
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const double size = std::abs(effects[i].estimate);
    const bool out = size > margins.margin;
    const Point at{size, quantiles[effects.size() - 1 - i]};
    chart.circle(
        at, 4.5, {{"fill", out ? series_colour(1) : "#767676"}},
        fmt::format("{}: {}", effects[i].term, analysis::exact_number(effects[i].estimate)));
    if (out && i < kMaxEffectsNamed) chart.tag(at, effects[i].term, size > x.high / 2 ? -8 : 8);
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> half_normal_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (!response.fit) continue;
    if (const auto saturated = analysis::saturated_effects(*response.fit)) {
      figures.push_back(half_normal_figure(response, *saturated));
    }
  }
  return figures;
}

}  // namespace doetune::reports
