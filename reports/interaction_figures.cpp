#include <fmt/format.h>

#include <algorithm>

#include "doe/design.h"
#include "reports/figures.h"
#include "reports/format.h"
#include "reports/slice.h"

namespace doetune::reports {
namespace {

/// The means over the factor's places, for one level.
Polyline means(const surfaces::Surface& surface, const doe::Factor& factor, int f,
               Eigen::VectorXd point) {
  Polyline line;
  for (const double place : coded_places(factor)) {
    point[f] = place;
    line.push_back({place, surface.response(point)});
  }
  return line;
}

double mean_of(const Polyline& line) {
  double sum = 0;
  for (const Point& p : line) sum += p.y;
  return sum / static_cast<double>(line.size());
}

std::string title_of(const ResponseAnalysis& response, const doe::Factor& levels,
                     const doe::Factor& other, const std::vector<Polyline>& lines) {
  std::vector<double> average;
  for (const Polyline& line : lines) average.push_back(mean_of(line));
  const auto [low, high] = std::minmax_element(average.begin(), average.end());
  const auto name = [&](auto at) {
    return levels.level_names[static_cast<std::size_t>(at - average.begin())];
  };
  return fmt::format("Over {}, {} is highest with {} {} and lowest with {}: {} apart on average.",
                     other.name, response.response.name, levels.name, name(high), name(low),
                     with_unit(short_number(*high - *low), response.response.unit));
}

Axis response_axis(const ResponseAnalysis& response, const std::vector<Polyline>& lines) {
  double low = lines[0][0].y;
  double high = low;
  for (const Polyline& line : lines) {
    for (const Point& p : line) {
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
  }
  return linear_axis(name_with_unit(response.response.name, response.response.unit), low, high,
                     0.1);
}

Figure interaction_figure(const Analysis& analysis, const ResponseAnalysis& response, int c,
                          int f) {
  static constexpr const char* kDashes[] = {"none", "7 4", "2 3", "9 3 2 3"};
  const doe::Factor& levels = factors_of(analysis)[c];
  const doe::Factor& other = factors_of(analysis)[f];
  const Reference at = reference(analysis);
  Eigen::VectorXd point = doe::coded_point(factors_of(analysis), at.settings);
  std::vector<Polyline> lines;
  for (std::size_t level = 0; level < levels.level_names.size(); ++level) {
    point[c] = static_cast<double>(level);
    lines.push_back(means(*response.surface(), other, f, point));
  }
  Figure figure;
  figure.name = fmt::format("interaction-{}-{}-{}", file_part(response.response.name),
                            file_part(levels.name), file_part(other.name));
  figure.title = title_of(response, levels, other, lines);
  const std::string held = settings_text(factors_of(analysis), at.settings, {c, f});
  figure.caption = fmt::format(
      "Predicted mean of {}, a line for each level of {}{}. Lines that are "
      "not parallel: the two factors interact.",
      response.response.name, levels.name,
      held.empty() ? "" : ", with " + held + " (" + at.name + ")");
  Chart chart(figure.name, factor_axis(other), response_axis(response, lines));
  chart.grid_lines();
  for (std::size_t level = 0; level < lines.size(); ++level) {
    const std::string colour = series_colour(static_cast<int>(level));
    chart.curve(lines[level], levels.level_names[level],
                {{"stroke", colour},
                 {"stroke-width", "2.2"},
                 {"stroke-dasharray", kDashes[level % std::size(kDashes)]}});
    // Spread along the lines, so that labels of crossing lines keep apart.
    const std::size_t place = lines[level].size() * (2 * level + 1) / (2 * lines.size());
    chart.label(lines[level][place], levels.level_names[level]);
  }
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> interaction_figures(const Analysis& analysis) {
  std::vector<Figure> figures;
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  const int count = static_cast<int>(factors.size());
  for (const ResponseAnalysis& response : analysis.responses) {
    for (int c = 0; c < count && response.fit; ++c) {
      if (!factors[c].is_categorical()) continue;
      for (int f = 0; f < count; ++f) {
        // Two categorical factors make one figure, not two.
        if (f == c || (factors[f].is_categorical() && f < c)) continue;
        figures.push_back(interaction_figure(analysis, response, c, f));
      }
    }
  }
  return figures;
}

}  // namespace doetune::reports
