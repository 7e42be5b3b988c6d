#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/effects.h"
#include "reports/figures.h"
#include "reports/format.h"

namespace doetune::reports {
namespace {

constexpr double kRow = 24;

Axis effect_axis(const std::vector<Effect>& effects, const std::string& unit) {
  double low = 0, high = 0;
  for (const Effect& effect : effects) {
    const surfaces::Interval reach =
        effect.interval.value_or(surfaces::Interval{effect.estimate, effect.estimate});
    low = std::min(low, reach.low);
    high = std::max(high, reach.high);
  }
  return linear_axis(name_with_unit("coefficient", unit), low, high);
}

void draw_effect(Chart& chart, const Effect& effect, double row) {
  const bool clear = effect.is_clear();
  const std::string colour = clear ? series_colour(0) : "#767676";
  if (effect.interval) {
    chart.curve({{effect.interval->low, row}, {effect.interval->high, row}},
                effect.term + ": 95 % interval", {{"stroke", colour}, {"stroke-width", "2.5"}});
  }
  chart.circle({effect.estimate, row}, 5,
               {{"fill", clear ? colour : "#fff"}, {"stroke", colour}, {"stroke-width", "2"}},
               fmt::format("{}: {}", effect.term, exact_number(effect.estimate)));
}

Figure effect_figure(const ResponseAnalysis& response) {
  const std::vector<Effect> effects = effects_of(*response.fit);
  const double count = static_cast<double>(effects.size());
  Axis y{"", -0.7, count - 0.3, {}};
  for (std::size_t i = 0; i < effects.size(); ++i) {
    y.ticks.push_back({count - 1 - static_cast<double>(i), effects[i].term});
  }
  std::size_t longest = 0;
  for (const Effect& effect : effects) longest = std::max(longest, effect.term.size());
  Figure figure;
  figure.name = "effects-" + file_part(response.response.name);
  figure.title = effects_conclusion(response);
  figure.caption = fmt::format(
      "Coefficients of the model in coded units, with 95 % intervals: how far {} moves from the "
      "middle of a factor's range to its high end. Filled: the interval excludes 0.",
      fitted_quantity(response));
  const double left = std::clamp(7.0 * static_cast<double>(longest) + 14, 60.0, 330.0);
  Chart chart(figure.name, effect_axis(effects, fitted_unit(response)), y,
              {left + 320, 62 + kRow * (count + 0.4), left});
  chart.grid_lines();
  chart.line({{0, y.low}, {0, y.high}}, {{"stroke", "currentColor"}, {"stroke-width", "1.5"}});
  for (std::size_t i = 0; i < effects.size(); ++i) {
    draw_effect(chart, effects[i], count - 1 - static_cast<double>(i));
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> effect_figures(const Analysis& analysis) {
  std::vector<Figure> figures;
  for (const ResponseAnalysis& response : analysis.responses) {
    if (response.fit && response.fit->model.column_count() > 1) {
      figures.push_back(effect_figure(response));
    }
  }
  return figures;
}

}  // namespace doetune::reports
