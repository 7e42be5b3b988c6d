#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/analysis/effects.h"
#include "reports/figures/figures.h"
#include "reports/format.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMostRows = 20;

Axis effect_axis(const std::vector<Effect>& effects, const std::string& unit) {
  double low = 0, high = 0;
  for (const Effect& effect : effects) {
    const surfaces::Interval reach =
        effect.joint_interval.value_or(surfaces::Interval{effect.estimate, effect.estimate});
    low = std::min(low, reach.low);
    high = std::max(high, reach.high);
  }
  return linear_axis(name_with_unit("coefficient", unit), low, high);
}

void draw_effect(Chart& chart, const Effect& effect, double row) {
  const bool clear = effect.is_clear();
  const std::string colour = clear ? series_colour(0) : "#767676";
  const auto span = [&](const surfaces::Interval& interval, const char* name, const char* width) {
    chart.curve({{interval.low, row}, {interval.high, row}}, effect.term + name,
                {{"stroke", colour}, {"stroke-width", width}});
  };
  if (effect.joint_interval) span(*effect.joint_interval, ": 95 % interval of all together", "1");
  if (effect.interval) span(*effect.interval, ": 95 % interval", "3");
  Attributes style = {{"fill", clear ? colour : "#fff"}, {"stroke", colour}, {"stroke-width", "2"}};
  if (!clear) style.emplace_back("class", "paper");  // hollow on any background
  chart.circle({effect.estimate, row}, 5, style,
               fmt::format("{}: {}", effect.term, exact_number(effect.estimate)));
}

std::string caption_of(const ResponseAnalysis& response, const std::vector<Effect>& effects) {
  std::string text = fmt::format(
      "Coefficients of the model in coded units: how far {} moves from the middle of a factor's "
      "range to its high end.",
      fitted_quantity(response));
  if (effects.front().interval) {
    text +=
        " Thick lines: 95 % intervals, each alone; filled where it excludes 0. Thin lines: 95 % "
        "intervals of all terms together (Bonferroni).";
  }
  if (response.other) {
    text += fmt::format(" Of the polynomial: predictions come from a surface of another kind, {}.",
                        response.kind);
  }
  if (effects.size() > kMostRows) {
    text += fmt::format(" The {} largest of {} terms; the others are in the table.", kMostRows,
                        effects.size());
  }
  return text;
}

Figure effect_figure(const ResponseAnalysis& response) {
  std::vector<Effect> effects = effects_of(*response.fit);
  Figure figure;
  figure.name = "effects-" + file_part(response.response.name);
  figure.title = effects_conclusion(response);
  figure.caption = caption_of(response, effects);
  if (effects.size() > kMostRows) effects.resize(kMostRows);
  std::vector<std::string> terms;
  for (const Effect& effect : effects) terms.push_back(effect.term);
  const Axis y = row_axis(terms);
  Chart chart(figure.name, effect_axis(effects, fitted_unit(response)), y, size_of_rows(y));
  chart.grid_lines();
  chart.line({{0, y.low}, {0, y.high}}, {{"stroke", "currentColor"}, {"stroke-width", "1.5"}});
  for (std::size_t i = 0; i < effects.size(); ++i) draw_effect(chart, effects[i], y.ticks[i].at);
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> effect_figures(const Analysis& analysis) {
  std::vector<Figure> figures;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (response.fit && varies(*response.fit) && !effects_of(*response.fit).empty()) {
      figures.push_back(effect_figure(response));
    }
  }
  return figures;
}

}  // namespace doetune::reports
