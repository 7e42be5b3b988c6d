#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/tornado.h"
#include "reports/figures/allowed.h"
#include "reports/figures/axes.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxSwings = 12;

/// "decode_rate 4.9 / 5.1 Hz", with – if there is no such step.
std::string row_name(const analysis::Analysis& analysis, const analysis::FactorSwing& swing) {
  const doe::Factor& factor = analysis::factors_of(analysis)[swing.factor];
  const auto setting_of = [&](const std::optional<analysis::SwingEnd>& end) {
    return end ? factor.format(end->setting) : std::string("–");
  };
  return factor.name + " " +
         analysis::with_unit(setting_of(swing.down) + " / " + setting_of(swing.up), factor.unit);
}

/// Names the first bar end, in order, that violates the limit.
std::string broken_limit(const analysis::Analysis& analysis, const analysis::Tornado& tornado) {
  const surfaces::Goal* goal = analysis::goal_of(analysis, tornado.response->response.name);
  if (goal == nullptr || !goal->is_limit()) return "";
  if (!goal->is_met(tornado.centre)) return "; the limit is violated even without a step";
  for (const analysis::FactorSwing& swing : tornado.swings) {
    for (const std::optional<analysis::SwingEnd>& end : {swing.down, swing.up}) {
      if (end && !goal->is_met(end->mean)) {
        return "; with " +
               analysis::setting_text(analysis::factors_of(analysis)[swing.factor], end->setting) +
               " its limit is violated";
      }
    }
  }
  return "; no single step violates its limit";
}

std::string title_of(const analysis::Analysis& analysis, const analysis::Tornado& tornado) {
  const study::Response& response = tornado.response->response;
  const analysis::FactorSwing& first = tornado.swings.front();
  if (first.reach(tornado.centre) == 0) {
    return fmt::format("No single step changes {}.", response.name);
  }
  const auto change = [&](const analysis::SwingEnd& end) {
    return analysis::with_unit(
        analysis::signed_difference_to(end.mean - tornado.centre,
                                       std::max(end.known_to, tornado.centre_known_to)),
        response.unit);
  };
  std::string changes;
  if (first.down) changes = change(*first.down) + " one step down";
  if (first.up) changes += (changes.empty() ? "" : ", ") + change(*first.up) + " one step up";
  return fmt::format("A single step of {} changes {} most: {}{}.",
                     analysis::factors_of(analysis)[first.factor].name, response.name, changes,
                     broken_limit(analysis, tornado));
}

/// Steps down fill the upper half of a row, steps up the lower half, so that neither hides the
/// other.
void draw_bar(Chart& chart, const analysis::Tornado& tornado, const analysis::SwingEnd& end,
              double row, bool up) {
  const double from = up ? row - 0.32 : row, to = up ? row : row + 0.32;
  const std::string colour = series_colour(up ? 0 : 1);
  chart.region({{{tornado.centre, from}, {end.mean, from}, {end.mean, to}, {tornado.centre, to}}},
               {{"fill", colour}});
  // Keeps steps with a negligible change visible.
  chart.circle(
      {end.mean, (from + to) / 2}, 3.5, {{"fill", colour}},
      fmt::format("one step {}: {}", up ? "up" : "down", analysis::exact_number(end.mean)));
}

/// Draws the limits that are within the axes.
void draw_limits(Chart& chart, const Axis& x, const Axis& y, const surfaces::Goal* goal) {
  if (goal == nullptr || !goal->is_limit()) return;
  for (const double end : {goal->met_low(), goal->met_high()}) {
    if (!(end > x.low && end < x.high)) continue;
    chart.line({{end, y.low}, {end, y.high}},
               {{"stroke", "currentColor"}, {"stroke-width", "1.5"}, {"stroke-dasharray", "6 3"}});
    chart.tag({end, y.high}, "limit", 4, 9);
  }
}

Axis axis_over(const analysis::Tornado& tornado) {
  double low = tornado.centre, high = tornado.centre;
  for (const analysis::FactorSwing& swing : tornado.swings) {
    for (const std::optional<analysis::SwingEnd>& end : {swing.down, swing.up}) {
      if (!end) continue;
      low = std::min(low, end->mean);
      high = std::max(high, end->mean);
    }
  }
  const study::Response& response = tornado.response->response;
  return linear_axis(analysis::name_with_unit(response.name, response.unit), low, high, 0.08);
}

Figure tornado_figure(const analysis::Analysis& analysis, analysis::Tornado tornado) {
  Figure figure;
  figure.name = "tornado-" + file_part(tornado.response->response.name);
  figure.title = title_of(analysis, tornado);
  figure.caption = fmt::format(
      "Predicted mean of {} with one factor one usable step below (orange) or above (blue) the "
      "optimum and all others fixed; the line is the optimum ({}).",
      tornado.response->response.name,
      analysis::with_unit(analysis::number_to(tornado.centre, tornado.centre_known_to),
                          tornado.response->response.unit));
  const bool excludes =
      analysis.feasibility.has_value() || !analysis.directory->study.region.is_box();
  if (excludes && std::any_of(tornado.swings.begin(), tornado.swings.end(),
                              [](const auto& swing) { return !swing.down || !swing.up; })) {
    figure.caption += fmt::format(" –: no such step, or {}.", excluded_text(analysis));
  }
  if (tornado.swings.size() > kMaxSwings) {
    figure.caption += fmt::format(" The {} of {} factors with the largest effects.", kMaxSwings,
                                  tornado.swings.size());
    tornado.swings.resize(kMaxSwings);
  }
  std::vector<std::string> names;
  for (const analysis::FactorSwing& swing : tornado.swings)
    names.push_back(row_name(analysis, swing));
  const Axis x = axis_over(tornado);
  Axis y = row_axis(names);
  y.high += 0.6;  // space for the names of limits
  Chart chart(figure.name, x, y, size_of_rows(y));
  chart.grid_lines();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const analysis::FactorSwing& swing = tornado.swings[i];
    if (swing.down) draw_bar(chart, tornado, *swing.down, y.ticks[i].at, false);
    if (swing.up) draw_bar(chart, tornado, *swing.up, y.ticks[i].at, true);
  }
  chart.line({{tornado.centre, y.low}, {tornado.centre, y.high}},
             {{"stroke", "currentColor"}, {"stroke-width", "1.5"}});
  draw_limits(chart, x, y, analysis::goal_of(analysis, tornado.response->response.name));
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> tornado_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  for (analysis::Tornado& tornado : analysis::tornados(analysis)) {
    figures.push_back(tornado_figure(analysis, std::move(tornado)));
  }
  return figures;
}

}  // namespace doetune::reports
