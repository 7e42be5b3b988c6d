#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/effects.h"
#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "doe/design.h"
#include "reports/figures/allowed.h"
#include "reports/figures/axes.h"
#include "reports/figures/curve_names.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxInteractionFigures = 12, kMaxPerResponse = 3;
constexpr double kNone = 1e-6;  // relative to the range of the response: lines count as parallel

/// The mean along factor x, with one line for each position of factor `by`.
struct Interaction {
  int x = 0, by = 0;
  std::vector<double> positions;  ///< of `by`, coded: its levels, or both ends of its range
  std::vector<Polyline> lines;
  double strength = 0;  ///< departure from parallel lines, in the unit of the response
};

/// The range of a table of values after removing its row and column means.
double strength_of(const std::vector<Polyline>& lines) {
  Eigen::MatrixXd table(lines.size(), lines[0].size());
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (std::size_t i = 0; i < lines[l].size(); ++i) table(l, i) = lines[l][i].y;
  }
  const Eigen::VectorXd rows = table.rowwise().mean();
  const Eigen::RowVectorXd columns = table.colwise().mean();
  table.colwise() -= rows;
  table.rowwise() -= columns;
  return table.maxCoeff() - table.minCoeff();
}

/// Enough positions to measure the strength of an interaction.
std::vector<double> few_positions(const doe::Factor& factor) {
  return factor.is_categorical() ? coded_positions(factor) : std::vector<double>{-1, 0, 1};
}

/// The interaction over these positions of x. Strength 0 if any value is not finite.
Interaction interaction_of(const analysis::Analysis& analysis,
                           const analysis::ResponseAnalysis& response, int x, int by,
                           const std::vector<double>& positions) {
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  Eigen::VectorXd point = doe::coded_point(factors, analysis::reference(analysis).settings);
  Interaction interaction{x, by, {-1, 1}, {}, 0};
  if (factors[by].is_categorical()) interaction.positions = factors[by].usable_settings();
  bool finite = true;
  for (const double position : interaction.positions) {
    point[by] = position;
    Polyline& line = interaction.lines.emplace_back();
    for (const double at : positions) {
      point[x] = at;
      line.push_back({at, response.drawn()->response(point)});
      finite = finite && std::isfinite(line.back().y);
    }
  }
  if (finite) interaction.strength = strength_of(interaction.lines);
  return interaction;
}

/// Whether a column contains both factors.
bool holds_both(const doe::Model& model, const doe::ModelColumn& column, int a, int b) {
  const std::vector<int>& powers = model.terms()[static_cast<std::size_t>(column.term)].powers;
  return powers[static_cast<std::size_t>(a)] > 0 && powers[static_cast<std::size_t>(b)] > 0;
}

/// Whether the interaction is significant; empty if it is not tested.
std::optional<bool> is_clear(const analysis::ResponseAnalysis& response, int a, int b) {
  if (response.other || !response.fit || response.fit->df_residual == 0) return std::nullopt;
  const std::vector<analysis::Effect> effects = analysis::effects_of(*response.fit);
  for (const doe::ModelColumn& column : response.fit->model.columns()) {
    if (!holds_both(response.fit->model, column, a, b)) continue;
    const auto effect =
        std::find_if(effects.begin(), effects.end(),
                     [&](const analysis::Effect& e) { return e.term == column.name; });
    if (effect != effects.end() && effect->is_clear()) return true;
  }
  return false;
}

bool may_interact(const analysis::ResponseAnalysis& response, int a, int b) {
  if (response.other) return true;
  const doe::Model& model = response.fit->model;
  return std::any_of(model.columns().begin(), model.columns().end(),
                     [&](const auto& column) { return holds_both(model, column, a, b); });
}

/// Interacting pairs, strongest first. The factor with fewer levels is shown as lines.
std::vector<Interaction> strongest(const analysis::Analysis& analysis,
                                   const analysis::ResponseAnalysis& response) {
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  const double range = response.fit->observed.maxCoeff() - response.fit->observed.minCoeff();
  std::vector<Interaction> found;
  for (int a = 0; a < static_cast<int>(factors.size()); ++a) {
    for (int b = a + 1; b < static_cast<int>(factors.size()); ++b) {
      if (!may_interact(response, a, b)) continue;
      const bool by_a = factors[a].is_categorical() &&
                        (!factors[b].is_categorical() ||
                         factors[a].level_names.size() <= factors[b].level_names.size());
      const int x = by_a ? b : a;
      found.push_back(
          interaction_of(analysis, response, x, by_a ? a : b, few_positions(factors[x])));
      if (!(found.back().strength > kNone * range)) found.pop_back();
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Interaction& a, const Interaction& b) {
    return a.strength > b.strength;
  });
  return found;
}

/// For each line, whether the settings at these positions of x are allowed.
std::vector<std::vector<bool>> allowed_of(const analysis::Analysis& analysis,
                                          const analysis::Reference& at,
                                          const Interaction& interaction,
                                          const std::vector<double>& positions) {
  Eigen::VectorXd point = doe::coded_point(analysis::factors_of(analysis), at.settings);
  std::vector<std::vector<bool>> allowed;
  for (const double position : interaction.positions) {
    point[interaction.by] = position;
    allowed.push_back(allowed_along(analysis, at, {interaction.x, interaction.by}, interaction.x,
                                    point, positions));
  }
  return allowed;
}

/// Positions of x that a title may name: usable settings, and the ends of the range.
std::vector<double> positions_to_name(const doe::Factor& x) {
  if (x.is_categorical()) return coded_positions(x);
  std::vector<double> named = {-1};
  for (const double position : coded_positions(x)) {
    const double usable = x.to_coded(x.snap(x.to_natural(position)));
    if (usable > named.back() && usable < 1) named.push_back(usable);
  }
  named.push_back(1);
  return named;
}

/// What a title compares: lines with several allowed settings, between the first and the last
/// position of x at which all of them are allowed.
struct Compared {
  std::vector<std::size_t> lines;
  double from = 0, to = 0;  ///< coded; equal if there is nothing to compare
};

Compared compared_of(const analysis::Analysis& analysis, const analysis::Reference& at,
                     const Interaction& interaction) {
  const std::vector<double> positions =
      positions_to_name(analysis::factors_of(analysis)[interaction.x]);
  const std::vector<std::vector<bool>> allowed = allowed_of(analysis, at, interaction, positions);
  Compared compared;
  for (std::size_t l = 0; l < allowed.size(); ++l) {
    if (std::count(allowed[l].begin(), allowed[l].end(), true) > 1) compared.lines.push_back(l);
  }
  std::vector<double> common;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (std::all_of(compared.lines.begin(), compared.lines.end(),
                    [&](std::size_t l) { return allowed[l][i]; })) {
      common.push_back(positions[i]);
    }
  }
  if (compared.lines.size() > 1 && !common.empty()) {
    compared.from = common.front();
    compared.to = common.back();
  }
  return compared;
}

std::string level_text(const doe::Factor& factor, double coded) {
  return factor.name + " = " +
         analysis::with_unit(factor.format(factor.to_natural(coded)), factor.unit);
}

/// The change of the response along a line.
struct LineChange {
  std::size_t line = 0;
  double difference = 0;
  double known_to = 0;  ///< the larger half-width of the 95 % intervals at its ends
};

LineChange change_along(const analysis::Analysis& analysis,
                        const analysis::ResponseAnalysis& response, const analysis::Reference& at,
                        const Interaction& interaction, const Compared& compared, std::size_t l) {
  Eigen::VectorXd point = doe::coded_point(analysis::factors_of(analysis), at.settings);
  point[interaction.by] = interaction.positions[l];
  point[interaction.x] = compared.from;
  const surfaces::Prediction from = response.drawn()->predict(point);
  point[interaction.x] = compared.to;
  const surfaces::Prediction to = response.drawn()->predict(point);
  return {l, to.response() - from.response(),
          std::max(analysis::half_width(from.confidence_interval()),
                   analysis::half_width(to.confidence_interval()))};
}

/// "raising batch from 1 to 64", "changing backend from trt to tf".
std::string move_text(const doe::Factor& x, const Compared& compared) {
  const auto setting = [&](double position) {
    return x.format(position == -1 || position == 1 ? x.to_natural(position)
                                                    : x.snap(x.to_natural(position)));
  };
  const std::string ends = setting(compared.from) + " to " + setting(compared.to);
  return fmt::format("{} {} from {}", x.is_categorical() ? "Changing" : "Raising", x.name,
                     analysis::with_unit(ends, x.unit));
}

/// A remark if the departure from parallel lines is not significant.
std::string doubt_text(const analysis::ResponseAnalysis& response, const Interaction& interaction) {
  if (is_clear(response, interaction.x, interaction.by) != false) return "";
  return fmt::format("; the difference{} is not significant",
                     analysis::scale_words(response.fit->transform));
}

/// The smallest and largest change of the response along x, as far as settings are allowed.
std::string title_of(const analysis::Analysis& analysis, const analysis::ResponseAnalysis& response,
                     const analysis::Reference& at, const Interaction& interaction) {
  const doe::Factor& x = analysis::factors_of(analysis)[interaction.x];
  const doe::Factor& by = analysis::factors_of(analysis)[interaction.by];
  const std::string& name = response.response.name;
  const Compared compared = compared_of(analysis, at, interaction);
  if (compared.from == compared.to) {
    return fmt::format("Too few settings of {} and {} are allowed to compare effects on {}.",
                       x.name, by.name, name);
  }
  std::vector<LineChange> changes;
  for (const std::size_t l : compared.lines) {
    changes.push_back(change_along(analysis, response, at, interaction, compared, l));
  }
  const auto [low, high] = std::minmax_element(
      changes.begin(), changes.end(),
      [](const LineChange& a, const LineChange& b) { return a.difference < b.difference; });
  const auto words = [&](const LineChange& change) {
    return fmt::format(
        "{} with {}",
        analysis::with_unit(analysis::signed_difference_to(change.difference, change.known_to),
                            response.response.unit),
        level_text(by, interaction.positions[change.line]));
  };
  return fmt::format("{} changes {} by {}, but by {}{}.", move_text(x, compared), name, words(*low),
                     words(*high), doubt_text(response, interaction));
}

Axis response_axis(const analysis::ResponseAnalysis& response, const std::vector<Polyline>& lines) {
  double low = lines[0][0].y, high = low;
  for (const Polyline& line : lines) {
    for (const Point& p : line) {
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
  }
  return linear_axis(analysis::name_with_unit(response.response.name, response.response.unit), low,
                     high, 0.1);
}

std::string line_name(const doe::Factor& by, double position) {
  return by.is_categorical() ? by.format(by.to_natural(position)) : level_text(by, position);
}

/// The axis of x, extended on the right for the names of the lines.
Axis axis_with_space_for(const Interaction& interaction, const doe::Factor& x,
                         const doe::Factor& by) {
  std::vector<std::string> names;
  for (const double position : interaction.positions) names.push_back(line_name(by, position));
  Axis axis = factor_axis(x);
  axis.high += space_for_names(names, axis.high - axis.low, {}, 1);
  return axis;
}

void draw_lines(Chart& chart, const doe::Factor& by, const Interaction& interaction,
                const std::vector<std::vector<bool>>& allowed) {
  static constexpr const char* kDashes[] = {"none", "7 4", "2 3", "9 3 2 3"};
  const std::vector<Polyline>& lines = interaction.lines;
  std::vector<CurveEnd> ends;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const std::string colour = series_colour(static_cast<int>(l));
    ends.push_back({lines[l].back(), line_name(by, interaction.positions[l]), colour});
    draw_allowed_curve(chart, lines[l], allowed[l], ends.back().name,
                       {{"stroke", colour},
                        {"stroke-width", "2.2"},
                        {"stroke-dasharray", kDashes[l % std::size(kDashes)]}});
  }
  draw_curve_names(chart, ends, Side::kRight);
}

Figure interaction_figure(const analysis::Analysis& analysis,
                          const analysis::ResponseAnalysis& response, const analysis::Reference& at,
                          const Interaction& interaction, std::size_t pairs, std::size_t drawn) {
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  const doe::Factor& x = factors[interaction.x];
  const doe::Factor& by = factors[interaction.by];
  Figure figure;
  figure.name = fmt::format("interaction-{}-{}-{}", file_part(response.response.name),
                            file_part(by.name), file_part(x.name));
  figure.title = title_of(analysis, response, at, interaction);
  const std::string held =
      analysis::settings_text(factors, at.settings, {interaction.x, interaction.by});
  figure.caption = fmt::format(
      "Predicted mean of {}, with a line for {} of {}{}. If the lines are not parallel, the two "
      "factors interact.",
      response.response.name, by.is_categorical() ? "each level" : "either end of the range",
      by.name, held.empty() ? "" : ", with " + held + " (" + at.name + ")");
  if (pairs > drawn) {
    figure.caption += fmt::format(" The {} strongest of {} pairs of {} are drawn.", drawn, pairs,
                                  response.response.name);
  }
  const std::vector<std::vector<bool>> allowed =
      allowed_of(analysis, at, interaction, coded_positions(x));
  if (std::any_of(allowed.begin(), allowed.end(), excludes_any)) {
    figure.caption +=
        fmt::format(" Thin grey: {}; the title leaves it out.", excluded_text(analysis));
  }
  Chart chart(figure.name, axis_with_space_for(interaction, x, by),
              response_axis(response, interaction.lines));
  chart.grid_lines();
  draw_lines(chart, by, interaction, allowed);
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> interaction_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  const analysis::Reference at = analysis::reference(analysis);
  const auto fitted = static_cast<std::size_t>(std::count_if(
      analysis.responses.begin(), analysis.responses.end(),
      [](const analysis::ResponseAnalysis& response) { return response.fit.has_value(); }));
  const std::size_t max_figures = std::clamp(
      kMaxInteractionFigures / std::max<std::size_t>(fitted, 1), std::size_t{1}, kMaxPerResponse);
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (!response.fit) continue;
    const std::vector<Interaction> found = strongest(analysis, response);
    const std::size_t drawn = std::min(found.size(), max_figures);
    for (std::size_t i = 0; i < drawn; ++i) {
      const doe::Factor& x = analysis::factors_of(analysis)[found[i].x];
      const Interaction interaction =
          interaction_of(analysis, response, found[i].x, found[i].by, coded_positions(x));
      figures.push_back(
          interaction_figure(analysis, response, at, interaction, found.size(), drawn));
    }
  }
  return figures;
}

}  // namespace doetune::reports
