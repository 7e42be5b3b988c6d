#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "doe/design.h"
#include "reports/figures.h"
#include "reports/format.h"
#include "reports/slice.h"
#include "reports/svg.h"

namespace doetune::reports {
namespace {

constexpr int kNodes = 61;
constexpr int kLevels = 9;
constexpr double kNearSlice = 0.35;  // coded distance up to which a run belongs to the slice

/// One response over two factors, the others held.
struct Slice {
  const Analysis& analysis;
  const ResponseAnalysis& response;
  Eigen::VectorXd held;  ///< coded
  int x = 0;
  int y = 1;

  Eigen::VectorXd at(double cx, double cy) const {
    Eigen::VectorXd point = held;
    point[x] = cx;
    point[y] = cy;
    return point;
  }
  const doe::Factor& factor(int f) const { return factors_of(analysis)[f]; }
};

struct Surfaces {
  Grid mean;
  std::optional<Grid> margin;  ///< of all goals; empty where there are none
};

Surfaces surfaces_of(const Slice& slice) {
  Surfaces result;
  result.mean = square_grid(-1, 1, kNodes, [&](double cx, double cy) {
    return slice.response.fit->response(slice.at(cx, cy));
  });
  if (goal_margin(slice.analysis, slice.held)) {
    result.margin = square_grid(-1, 1, kNodes, [&](double cx, double cy) {
      return *goal_margin(slice.analysis, slice.at(cx, cy));
    });
  }
  return result;
}

/// Values far beyond what was observed (an inverse transform has poles) would drown the levels.
std::pair<double, double> drawn_range(const Slice& slice, Grid& mean) {
  const Eigen::VectorXd& observed = slice.response.fit->observed;
  const double span = std::max(observed.maxCoeff() - observed.minCoeff(), 1e-300);
  for (double& z : mean.z) {
    z = std::clamp(std::isnan(z) ? observed.mean() : z, observed.minCoeff() - 5 * span,
                   observed.maxCoeff() + 5 * span);
  }
  const auto [low, high] = std::minmax_element(mean.z.begin(), mean.z.end());
  return {*low, *high};
}

void draw_bands(Chart& chart, const Grid& mean, const std::vector<double>& levels, double low,
                double high) {
  const auto colour = [&](double z) { return viridis((z - low) / (high - low)); };
  const double first = levels.empty() ? high : levels.front();
  chart.region({{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}}, {{"fill", colour((low + first) / 2)}});
  // Each region covers all above its level: the next one paints over it, and no seam shows.
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double next = i + 1 < levels.size() ? levels[i + 1] : high;
    chart.region(region_between(mean, levels[i]), {{"fill", colour((levels[i] + next) / 2)}});
  }
}

/// Writes the level beside the middle of a line, along it.
void label_line(Chart& chart, const Polyline& line, double level) {
  Polyline drawn;
  for (const Point& p : line) drawn.push_back(chart.pixel(p));
  std::vector<double> length = {0};
  for (std::size_t i = 1; i < drawn.size(); ++i) {
    length.push_back(length.back() +
                     std::hypot(drawn[i].x - drawn[i - 1].x, drawn[i].y - drawn[i - 1].y));
  }
  if (length.back() < 45) return;
  const auto index = [&](double share) {
    const auto found = std::lower_bound(length.begin(), length.end(), share * length.back());
    return static_cast<std::size_t>(found - length.begin());
  };
  // Neighbouring lines are labelled at different places, so that labels do not stack up.
  const double share = 0.35 + 0.3 * std::fmod(std::abs(level) * 0.618, 1.0);
  const std::size_t middle = index(share);
  const Point a = drawn[index(share - 0.04)];
  const Point b = drawn[index(share + 0.04)];
  double degrees = std::atan2(b.y - a.y, b.x - a.x) * 180 / std::numbers::pi;
  if (degrees > 90) degrees -= 180;
  if (degrees < -90) degrees += 180;
  chart.label(line[middle], short_number(level), degrees);
}

void draw_lines(Chart& chart, const Grid& mean, const std::vector<double>& levels) {
  for (const double level : levels) {
    for (const Polyline& line : iso_lines(mean, level)) {
      chart.line(line, {{"stroke", "#fff"}, {"stroke-opacity", "0.75"}, {"stroke-width", "1"}});
      label_line(chart, line, level);
    }
  }
}

void draw_missed(Chart& chart, const Grid& margin) {
  chart.region(region_between(margin, -1e300, 0), {{"fill", chart.hatching()}});
  for (const Polyline& line : iso_lines(margin, 0)) {
    chart.line(line, {{"stroke", "#111"}, {"stroke-width", "1.6"}});
  }
}

double distance_from_slice(const Slice& slice, const Eigen::VectorXd& coded) {
  double distance = 0;
  for (int f = 0; f < coded.size(); ++f) {
    if (f == slice.x || f == slice.y) continue;
    distance = std::max(distance, std::abs(coded[f] - slice.held[f]));
  }
  return distance;
}

void draw_runs(Chart& chart, const Slice& slice) {
  const surfaces::Fit& fit = *slice.response.fit;
  for (int i = 0; i < fit.n; ++i) {
    const Eigen::VectorXd coded = fit.coded.row(i);
    const bool near = distance_from_slice(slice, coded) <= kNearSlice;
    const std::string title = fmt::format(
        "run {}: {}", slice.response.runs[i],
        with_unit(short_number(fit.observed[i]), slice.response.response.unit));
    chart.circle({coded[slice.x], coded[slice.y]}, near ? 5 : 3.5,
                 {{"fill", "#fff"}, {"fill-opacity", near ? "1" : "0.55"}, {"stroke", "#111"},
                  {"stroke-width", near ? "1.5" : "0.8"}},
                 title);
  }
}

void draw_optimum(Chart& chart, const Slice& slice) {
  if (!slice.analysis.optimum) return;
  chart.star({slice.held[slice.x], slice.held[slice.y]}, 11,
             {{"fill", "#d55e00"}, {"stroke", "#fff"}, {"stroke-width", "1.5"}}, "optimum");
}

/// "high a and low b": where the grid's highest tenth lies; empty where nowhere in particular.
std::string where_highest(const Slice& slice, const Grid& mean, double low, double high) {
  double x = 0, y = 0, n = 0;
  for (std::size_t i = 0; i < mean.z.size(); ++i) {
    if (mean.z[i] < high - (high - low) / 10) continue;
    x += mean.x[i % mean.x.size()];
    y += mean.y[i / mean.x.size()];
    ++n;
  }
  std::string text;
  const auto add = [&](double centre, int f) {
    if (std::abs(centre) < 0.25) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : " and ", centre > 0 ? "high" : "low",
                        slice.factor(f).name);
  };
  add(x / n, slice.x);
  add(y / n, slice.y);
  return text;
}

std::string share_met(const Grid& margin) {
  const double met = static_cast<double>(
      std::count_if(margin.z.begin(), margin.z.end(), [](double m) { return m >= 0; }));
  if (met == 0) return " No part of this slice meets every goal.";
  return fmt::format(" {} of this slice meets every goal.",
                     percent(met / static_cast<double>(margin.z.size())));
}

std::string title_of(const Slice& slice, const Reference& at, const Surfaces& surfaces, double low,
                     double high) {
  const std::string& name = slice.response.response.name;
  const std::string range = fmt::format("{} to {}", short_number(low),
                                        with_unit(short_number(high), slice.response.response.unit));
  const std::string where = where_highest(slice, surfaces.mean, low, high);
  return (where.empty() ? fmt::format("At {}, {} lies between {}.", at.name, name, range)
                        : fmt::format("At {}, {} is highest with {}: {}.", at.name, name, where, range)) +
         (surfaces.margin ? share_met(*surfaces.margin) : "");
}

std::string caption_of(const Slice& slice, const Reference& at, bool goals) {
  const std::string held = settings_text(factors_of(slice.analysis), at.settings, {slice.x, slice.y});
  return fmt::format("Predicted mean of {}{}. Circles: measured runs, small where they lie off this "
                     "slice.{}{}",
                     name_with_unit(slice.response.response.name, slice.response.response.unit),
                     held.empty() ? "" : ", with " + held + " (" + at.name + ")",
                     slice.analysis.optimum ? " Star: the optimum." : "",
                     goals ? " Hatched: a goal is missed." : "");
}

Figure contour_figure(const Slice& slice, const Reference& at) {
  Surfaces surfaces = surfaces_of(slice);
  const auto [low, high] = drawn_range(slice, surfaces.mean);
  const std::vector<double> levels = round_levels(low, high, kLevels);
  Figure figure;
  figure.name = fmt::format("contour-{}-{}-{}", file_part(slice.response.response.name),
                            file_part(slice.factor(slice.x).name),
                            file_part(slice.factor(slice.y).name));
  figure.title = title_of(slice, at, surfaces, low, high);
  figure.caption = caption_of(slice, at, surfaces.margin.has_value());
  Chart chart(figure.name, factor_axis(slice.factor(slice.x)), factor_axis(slice.factor(slice.y)));
  draw_bands(chart, surfaces.mean, levels, low, high);
  draw_lines(chart, surfaces.mean, levels);
  if (surfaces.margin) draw_missed(chart, *surfaces.margin);
  draw_runs(chart, slice);
  draw_optimum(chart, slice);
  figure.svg = chart.finish(figure.title);
  figure.data = {{"data-figure", "contour"},
                 {"data-response", slice.response.response.name},
                 {"data-x", slice.factor(slice.x).name},
                 {"data-y", slice.factor(slice.y).name}};
  return figure;
}

}  // namespace

std::vector<Figure> contour_figures(const Analysis& analysis) {
  std::vector<Figure> figures;
  const Reference at = reference(analysis);
  const Eigen::VectorXd held = doe::coded_point(factors_of(analysis), at.settings);
  const std::vector<int> numeric = numeric_factors(factors_of(analysis));
  for (std::size_t a = 0; a < numeric.size(); ++a) {
    for (std::size_t b = a + 1; b < numeric.size(); ++b) {
      for (const ResponseAnalysis& response : analysis.responses) {
        if (!response.fit) continue;
        figures.push_back(contour_figure({analysis, response, held, numeric[a], numeric[b]}, at));
      }
    }
  }
  return figures;
}

}  // namespace doetune::reports
