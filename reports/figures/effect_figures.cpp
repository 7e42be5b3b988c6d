#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/effects.h"
#include "analysis/format.h"
#include "reports/figures/axes.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxRows = 20;

Axis effect_axis(const std::vector<analysis::Effect>& effects, const std::string& unit) {
  double low = 0, high = 0;
  for (const analysis::Effect& effect : effects) {
    const surfaces::Interval reach =
        effect.joint_interval.value_or(surfaces::Interval{effect.estimate, effect.estimate});
    low = std::min(low, reach.low);
    high = std::max(high, reach.high);
  }
  return linear_axis(analysis::name_with_unit("coefficient", unit), low, high);
}

void draw_effect(Chart& chart, const analysis::Effect& effect, double row) {
  const bool clear = effect.is_clear();
  const std::string colour = clear ? series_colour(0) : "#767676";
  const auto span = [&](const surfaces::Interval& interval, const char* name, const char* width) {
    chart.curve({{interval.low, row}, {interval.high, row}}, effect.term + name,
                {{"stroke", colour}, {"stroke-width", width}});
  };
  if (effect.joint_interval) span(*effect.joint_interval, ": simultaneous 95 % interval", "1");
  if (effect.interval) span(*effect.interval, ": 95 % interval", "3");
  Attributes style = {{"fill", clear ? colour : "#fff"}, {"stroke", colour}, {"stroke-width", "2"}};
  if (!clear) style.emplace_back("class", "paper");  // hollow on any background
  chart.circle({effect.estimate, row}, 5, style,
               fmt::format("{}: {}", effect.term, analysis::exact_number(effect.estimate)));
}

std::string caption_of(const analysis::ResponseAnalysis& response,
                       const std::vector<analysis::Effect>& effects) {
  std::string text = fmt::format(
      "Coefficients of the model in coded units: the change of {} from the middle of a factor's "
      "range to its high end.",
      analysis::fitted_quantity(response));
  if (effects.front().interval) {
    text +=
        " Thick lines: individual 95 % intervals; filled if the interval excludes 0. Thin lines: "
        "simultaneous 95 % intervals of all terms (Bonferroni).";
  }
  if (response.other) {
    text += fmt::format(
        " These are of the polynomial; predictions come from another kind of surface, {}.",
        doe::word_of(response.kind));
  }
  if (effects.size() > kMaxRows) {
    text += fmt::format(" The {} largest of {} terms; the others are in the table.", kMaxRows,
                        effects.size());
  }
  return text;
}

Figure effect_figure(const analysis::ResponseAnalysis& response) {
  std::vector<analysis::Effect> effects = analysis::effects_of(*response.fit);
  Figure figure;
  figure.name = "effects-" + file_part(response.response.name);
  figure.title = analysis::effects_conclusion(response);
  figure.caption = caption_of(response, effects);
  if (effects.size() > kMaxRows) effects.resize(kMaxRows);
  std::vector<std::string> terms;
  for (const analysis::Effect& effect : effects) terms.push_back(effect.term);
  const Axis y = row_axis(terms);
  Chart chart(figure.name, effect_axis(effects, analysis::fitted_unit(response)), y,
              size_of_rows(y));
  chart.grid_lines();
  chart.line({{0, y.low}, {0, y.high}}, {{"stroke", "currentColor"}, {"stroke-width", "1.5"}});
  for (std::size_t i = 0; i < effects.size(); ++i) draw_effect(chart, effects[i], y.ticks[i].at);
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> effect_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (response.fit && analysis::varies(*response.fit) &&
        !analysis::effects_of(*response.fit).empty()) {
      figures.push_back(effect_figure(response));
    }
  }
  return figures;
}

}  // namespace doetune::reports
