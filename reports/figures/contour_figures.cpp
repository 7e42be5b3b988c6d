#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

#include "doe/design.h"
#include "reports/analysis/contour_pairs.h"
#include "reports/analysis/slice.h"
#include "reports/figures/figures.h"
#include "reports/format.h"

namespace doetune::reports {
namespace {

constexpr int kNodes = 41;
constexpr int kLevels = 9;
constexpr double kNearSlice = 0.35;     // coded distance up to which a run belongs to the slice
constexpr std::size_t kMostNamed = 14;  // factors whose settings a caption lists
constexpr int kMostCircles = 200;       // those farthest from the slice are left out

/// Two factors over which all responses are drawn, the others held.
struct Slice {
  const Analysis& analysis;
  const Reference& at;
  Eigen::VectorXd held;  ///< coded
  int x = 0;
  int y = 1;

  Grid over(const std::function<double(const Eigen::VectorXd&)>& value) const {
    Eigen::VectorXd point = held;
    return square_grid(-1, 1, kNodes, [&](double cx, double cy) {
      point[x] = cx;
      point[y] = cy;
      return value(point);
    });
  }
  /// The points of over(), a row each, in the order of a grid's values.
  Eigen::MatrixXd points() const {
    Eigen::MatrixXd all(kNodes * kNodes, held.size());
    Eigen::Index row = 0;
    over([&](const Eigen::VectorXd& point) {
      all.row(row++) = point.transpose();
      return 0;
    });
    return all;
  }
  const doe::Factor& factor(int f) const { return factors_of(analysis)[f]; }
};

/// Values far beyond what was observed (an inverse transform has poles) would drown the levels.
Grid mean_over(const Slice& slice, const ResponseAnalysis& response) {
  const double low = response.fit->observed.minCoeff();
  const double high = response.fit->observed.maxCoeff();
  const double reach = 5 * std::max(high - low, 1e-300);
  Grid grid = slice.over([](const Eigen::VectorXd&) { return 0; });
  const Eigen::VectorXd means = response.surface()->responses(slice.points());
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    grid.z[static_cast<std::size_t>(i)] = std::clamp(means[i], low - reach, high + reach);
  }
  return grid;
}

/// How far inside its limits y lies, in units of the goal's scale; negative where it misses one.
double margin(const surfaces::Goal& goal, double y) {
  return std::min(y - goal.met_low(), goal.met_high() - y) / goal.scale;
}

/// The least margin over all responses whose goal is a limit, within [-1, 1]; -1 where the region
/// excludes the settings. Empty where nothing is limited. `means` go with the responses.
std::optional<Grid> margin_over(const Slice& slice, const std::vector<Grid>& means) {
  std::optional<Grid> least;
  const Analysis& analysis = slice.analysis;
  // Its own expressions: figures are drawn on several threads.
  const doe::Region region = analysis.directory->study.region.for_another_thread();
  for (std::size_t r = 0; r < means.size(); ++r) {
    const surfaces::Goal* goal = goal_of(analysis, analysis.responses[r].response.name);
    if (goal == nullptr || !goal->is_limit() || means[r].z.empty()) continue;
    if (!least) {
      least = slice.over([&](const Eigen::VectorXd& point) {
        return region.is_box() || region.allows(doe::natural_settings(factors_of(analysis), point))
                   ? 1.0
                   : -1.0;
      });
    }
    for (std::size_t i = 0; i < least->z.size(); ++i) {
      least->z[i] = std::clamp(margin(*goal, means[r].z[i]), -1.0, least->z[i]);
    }
  }
  return least;
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

/// Runs of the fit by their rows, those nearest the slice last, so that they lie on top.
std::vector<int> runs_to_draw(const Slice& slice, const surfaces::Fit& fit) {
  std::vector<std::pair<double, int>> by_distance;
  for (int i = 0; i < fit.n; ++i) {
    by_distance.emplace_back(distance_from_slice(slice, fit.coded.row(i)), i);
  }
  std::stable_sort(by_distance.begin(), by_distance.end());
  by_distance.resize(std::min<std::size_t>(by_distance.size(), kMostCircles));
  std::vector<int> rows;
  for (auto at = by_distance.rbegin(); at != by_distance.rend(); ++at) rows.push_back(at->second);
  return rows;
}

void draw_runs(Chart& chart, const Slice& slice, const ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  for (const int i : runs_to_draw(slice, fit)) {
    const Eigen::VectorXd coded = fit.coded.row(i);
    const bool near = distance_from_slice(slice, coded) <= kNearSlice;
    const std::string title =
        fmt::format("run {}: {}", response.runs[i],
                    with_unit(short_number(fit.observed[i]), response.response.unit));
    chart.circle({coded[slice.x], coded[slice.y]}, near ? 5 : 3.5,
                 {{"fill", "#fff"},
                  {"fill-opacity", near ? "1" : "0.55"},
                  {"stroke", "#111"},
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

/// What is drawn of one response over a slice.
struct Drawn {
  const ResponseAnalysis& response;
  const Grid& mean;
  const std::optional<Grid>& margin;
  double low = 0;  ///< least and greatest mean
  double high = 0;
};

std::string title_of(const Slice& slice, const Drawn& drawn) {
  const study::Response& response = drawn.response.response;
  const std::string range =
      short_number(drawn.low) + " to " + with_unit(short_number(drawn.high), response.unit);
  const std::string where = where_highest(slice, drawn.mean, drawn.low, drawn.high);
  return (where.empty()
              ? fmt::format("At {}, {} lies between {}.", slice.at.name, response.name, range)
              : fmt::format("At {}, {} is highest with {}: {}.", slice.at.name, response.name,
                            where, range)) +
         (drawn.margin ? share_met(*drawn.margin) : "");
}

std::string caption_of(const Slice& slice, const Drawn& drawn) {
  const study::Response& response = drawn.response.response;
  const std::vector<doe::Factor>& factors = factors_of(slice.analysis);
  const std::string held = factors.size() > kMostNamed
                               ? "the other factors at " + slice.at.name
                               : settings_text(factors, slice.at.settings, {slice.x, slice.y});
  return fmt::format(
      "Predicted mean of {}{}. Circles: measured runs, small where they lie off this "
      "slice.{}{}",
      name_with_unit(response.name, response.unit),
      held.empty()
          ? ""
          : ", with " + held + (factors.size() > kMostNamed ? "" : " (" + slice.at.name + ")"),
      slice.analysis.optimum ? " Star: the optimum." : "",
      drawn.margin ? " Hatched: a goal is missed." : "");
}

Figure contour_figure(const Slice& slice, const Drawn& drawn) {
  const std::vector<double> levels = round_levels(drawn.low, drawn.high, kLevels);
  const doe::Factor& x = slice.factor(slice.x);
  const doe::Factor& y = slice.factor(slice.y);
  const std::string& name = drawn.response.response.name;
  Figure figure;
  figure.name =
      fmt::format("contour-{}-{}-{}", file_part(name), file_part(x.name), file_part(y.name));
  figure.title = title_of(slice, drawn);
  figure.caption = caption_of(slice, drawn);
  Chart chart(figure.name, factor_axis(x), factor_axis(y));
  draw_bands(chart, drawn.mean, levels, drawn.low, drawn.high);
  draw_lines(chart, drawn.mean, levels);
  if (drawn.margin) draw_missed(chart, *drawn.margin);
  draw_runs(chart, slice, drawn.response);
  draw_optimum(chart, slice);
  figure.svg = chart.finish(figure.title);
  figure.data = {{"data-response", name}, {"data-x", x.name}, {"data-y", y.name}};
  return figure;
}

/// The slices of an analysis, and what is worked out once for all responses that show one.
class Slices {
 public:
  Slices(const Analysis& analysis, const Reference& at)
      : analysis_(analysis), at_(at), held_(doe::coded_point(factors_of(analysis), at.settings)) {}

  const Eigen::VectorXd& held() const { return held_; }

  Figure figure(std::size_t r, const FactorPair& pair) {
    const Slice slice{analysis_, at_, held_, pair.x, pair.y};
    auto [known, is_new] = drawn_.try_emplace({pair.x, pair.y});
    if (is_new) known->second = over(slice);
    const Grid& mean = known->second.means[r];
    const auto [low, high] = std::minmax_element(mean.z.begin(), mean.z.end());
    return contour_figure(slice, {analysis_.responses[r], mean, known->second.margin, *low, *high});
  }

 private:
  struct Grids {
    std::vector<Grid> means;  ///< one a response; empty without a fit
    std::optional<Grid> margin;
  };

  Grids over(const Slice& slice) const {
    Grids grids;
    for (const ResponseAnalysis& response : analysis_.responses) {
      grids.means.push_back(response.fit ? mean_over(slice, response) : Grid{});
    }
    grids.margin = margin_over(slice, grids.means);
    return grids;
  }

  const Analysis& analysis_;
  const Reference& at_;
  Eigen::VectorXd held_;  ///< coded
  std::map<std::pair<int, int>, Grids> drawn_;
};

}  // namespace

std::vector<Figure> contour_figures(const Analysis& analysis) {
  std::vector<Figure> figures;
  const Reference at = reference(analysis);
  Slices slices(analysis, at);
  for (std::size_t r = 0; r < analysis.responses.size(); ++r) {
    const ResponseAnalysis& response = analysis.responses[r];
    if (!response.fit) continue;
    for (const FactorPair& pair : pairs_to_draw(analysis, response, slices.held())) {
      figures.push_back(slices.figure(r, pair));
    }
  }
  return figures;
}

}  // namespace doetune::reports
