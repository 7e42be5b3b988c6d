#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "analysis/effects.h"
#include "analysis/failed_runs.h"
#include "analysis/format.h"
#include "doe/design.h"
#include "reports/figures/allowed.h"
#include "reports/figures/axes.h"
#include "reports/figures/contour_pairs.h"
#include "reports/figures/contour_slice.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr int kLevels = 9;
constexpr double kNearSlice = 0.35;        // maximum coded distance of a run from the slice to be
                                           // drawn large
constexpr std::size_t kMaxHeldNamed = 14;  // maximum number of factors listed in a caption
constexpr int kMaxCircles = 200;           // runs farthest from the slice are omitted

/// What is drawn of one response over a slice.
struct Drawn {
  const Slice& slice;
  const analysis::ResponseAnalysis& response;
  const Grid& mean;
  const std::optional<Grid>& margin;   ///< margin_over
  const std::optional<Grid>& allowed;  ///< allowed_over
  double low = 0;                      ///< minimum and maximum of the mean where it is permitted
  double high = 0;

  bool shows_excluded(Point at) const {
    if (!allowed) return false;
    const auto nearest = [&](double c) {
      const double last = static_cast<double>(allowed->x.size()) - 1;
      return static_cast<int>(std::lround((c + 1) / 2 * last));
    };
    return allowed->at(nearest(at.x), nearest(at.y)) < 0;
  }
};

void draw_bands(Chart& chart, const Grid& mean, const std::vector<double>& levels, double low,
                double high) {
  const auto colour = [&](double z) {
    return viridis(high > low ? (z - low) / (high - low) : 0.5);
  };
  const double first = levels.empty() ? high : levels.front();
  chart.region({{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}}, {{"fill", colour((low + first) / 2)}});
  // Each region covers everything above its level; the next one is painted over it without a seam.
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double next = i + 1 < levels.size() ? levels[i + 1] : high;
    chart.region(region_between(mean, levels[i]), {{"fill", colour((levels[i] + next) / 2)}});
  }
}

/// Whether a label at this point would cover the optimum's star or lie in an excluded area.
bool is_taken(const Chart& chart, const Drawn& drawn, Point at) {
  constexpr double kStar = 28;  // pixels
  if (drawn.shows_excluded(at)) return true;
  if (!drawn.slice.analysis.optimum) return false;
  const Point star =
      chart.pixel({drawn.slice.held[drawn.slice.x], drawn.slice.held[drawn.slice.y]});
  const Point label = chart.pixel(at);
  return std::hypot(label.x - star.x, label.y - star.y) < kStar;
}

/// Writes the level along a line, near its middle if possible.
void label_line(Chart& chart, const Drawn& drawn, const Polyline& line, double level) {
  Polyline pixels;
  for (const Point& p : line) pixels.push_back(chart.pixel(p));
  std::vector<double> length = {0};
  for (std::size_t i = 1; i < pixels.size(); ++i) {
    length.push_back(length.back() +
                     std::hypot(pixels[i].x - pixels[i - 1].x, pixels[i].y - pixels[i - 1].y));
  }
  if (length.back() < 45) return;
  const auto index = [&](double fraction) {
    const auto found = std::lower_bound(length.begin(), length.end(), fraction * length.back());
    return static_cast<std::size_t>(found - length.begin());
  };
  // Labels of neighbouring lines are offset, so that they do not line up.
  const double wanted = 0.35 + 0.3 * std::fmod(std::abs(level) * 0.618, 1.0);
  for (const double aside : {0.0, 0.15, -0.15, 0.27, -0.27}) {
    const double fraction = wanted + aside;
    const Point middle = line[index(fraction)];
    if (is_taken(chart, drawn, middle)) continue;
    const Point a = pixels[index(fraction - 0.04)];
    const Point b = pixels[index(fraction + 0.04)];
    double degrees = std::atan2(b.y - a.y, b.x - a.x) * 180 / std::numbers::pi;
    if (degrees > 90) degrees -= 180;
    if (degrees < -90) degrees += 180;
    chart.label(middle, analysis::short_number(level), degrees);
    return;
  }
}

void draw_lines(Chart& chart, const Drawn& drawn, const std::vector<double>& levels) {
  for (const double level : levels) {
    for (const Polyline& line : iso_lines(drawn.mean, level)) {
      chart.line(line, {{"stroke", "#fff"}, {"stroke-opacity", "0.75"}, {"stroke-width", "1"}});
      label_line(chart, drawn, line, level);
    }
  }
}

void draw_missed(Chart& chart, const Grid& margin) {
  chart.region(region_between(margin, -1e300, 0), {{"fill", chart.hatching()}});
  for (const Polyline& line : iso_lines(margin, 0)) {
    chart.line(line, {{"stroke", "#111"}, {"stroke-width", "1.6"}});
  }
}

/// Covers the excluded area in grey, above everything drawn before.
void draw_excluded(Chart& chart, const Grid& allowed) {
  std::vector<Polyline> rings = region_between(allowed, -1e300, 0);
  // The border follows the grid in steps of a cell.
  const double cell = allowed.x[1] - allowed.x[0];
  for (Polyline& ring : rings) ring = simplified_inside(allowed, ring, cell);
  chart.region(rings, {{"fill", kExcludedFill}});
}

/// Row indices of the runs to draw, nearest to the slice last, so that they are on top.
std::vector<int> runs_to_draw(const Slice& slice, const surfaces::Fit& fit) {
  std::vector<std::pair<double, int>> by_distance;
  for (int i = 0; i < fit.n; ++i) {
    by_distance.emplace_back(slice.distance(fit.coded.row(i)), i);
  }
  std::stable_sort(by_distance.begin(), by_distance.end());
  by_distance.resize(std::min<std::size_t>(by_distance.size(), kMaxCircles));
  std::vector<int> rows;
  for (auto at = by_distance.rbegin(); at != by_distance.rend(); ++at) rows.push_back(at->second);
  return rows;
}

void draw_runs(Chart& chart, const Slice& slice, const analysis::ResponseAnalysis& response) {
  const surfaces::Fit& fit = *response.fit;
  for (const int i : runs_to_draw(slice, fit)) {
    const Eigen::VectorXd coded = fit.coded.row(i);
    const bool near = slice.distance(coded) <= kNearSlice;
    const std::string title = fmt::format(
        "run {}: {}", response.runs[i],
        analysis::with_unit(analysis::short_number(fit.observed[i]), response.response.unit));
    chart.circle({coded[slice.x], coded[slice.y]}, near ? 5 : 3.5,
                 {{"fill", "#fff"},
                  {"fill-opacity", near ? "1" : "0.55"},
                  {"stroke", "#111"},
                  {"stroke-width", near ? "1.5" : "0.8"}},
                 title);
  }
}

/// Runs whose configurations cannot run, small if they lie off the slice.
void draw_infeasible_runs(Chart& chart, const Slice& slice) {
  const analysis::Analysis& analysis = slice.analysis;
  const study::Plan& plan = analysis.directory->plan;
  for (const int run : analysis::infeasible_runs(plan, analysis.records)) {
    const auto& settings = plan.runs[static_cast<std::size_t>(run - 1)].settings;
    const Eigen::VectorXd coded = doe::coded_point(analysis::factors_of(analysis), settings);
    const bool near = slice.distance(coded) <= kNearSlice;
    const bool failed = analysis.records.at(run).status != study::RunStatus::kInfeasible;
    chart.cross({coded[slice.x], coded[slice.y]}, near ? 5 : 3.5,
                {{"stroke", "#111"}, {"stroke-width", near ? "2" : "1"}},
                fmt::format("run {}: {}", run, failed ? "failed" : "infeasible"));
  }
}

void draw_optimum(Chart& chart, const Slice& slice) {
  if (!slice.analysis.optimum) return;
  chart.star({slice.held[slice.x], slice.held[slice.y]}, 11,
             {{"fill", "#d55e00"}, {"stroke", "#fff"}, {"stroke-width", "1.5"}}, "optimum");
}

/// "high a and low b": the location of the grid's highest tenth; empty if it is central.
std::string where_highest(const Slice& slice, const Grid& mean, double low, double high) {
  double x = 0, y = 0, n = 0;
  for (std::size_t i = 0; i < mean.z.size(); ++i) {
    if (!(mean.z[i] >= high - (high - low) / 10)) continue;
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

const char* part_text(const Drawn& drawn) {
  return drawn.allowed ? "the allowed part" : "this slice";
}

/// The fraction of the permitted area that meets all limits, in a sentence.
std::string fraction_text(const Drawn& drawn) {
  if (!drawn.margin) return "";
  const std::optional<double> fraction = fraction_met(*drawn.margin, drawn.allowed);
  if (!fraction) return " The study's constraints exclude all of this slice.";
  const char* of = part_text(drawn);
  if (*fraction == 0) return fmt::format(" No part of {} meets every limit.", of);
  return fmt::format(" {} of {} meets every limit.",
                     *fraction == 1 ? "All" : analysis::percent(*fraction), of);
}

/// A mean of the slice, with as many digits as its uncertainty justifies.
std::string mean_text(const Drawn& drawn, double mean) {
  const auto found = std::find(drawn.mean.z.begin(), drawn.mean.z.end(), mean);
  const auto index = static_cast<std::size_t>(found - drawn.mean.z.begin());
  Eigen::VectorXd point = drawn.slice.held;
  point[drawn.slice.x] = drawn.mean.x[index % drawn.mean.x.size()];
  point[drawn.slice.y] = drawn.mean.y[index / drawn.mean.x.size()];
  const surfaces::Prediction prediction = drawn.response.drawn()->predict(point);
  return analysis::number_to(mean, analysis::half_width(prediction.confidence_interval()));
}

std::string title_of(const Drawn& drawn) {
  const Slice& slice = drawn.slice;
  const std::string& name = drawn.response.response.name;
  if (!fraction_met(drawn.mean, drawn.allowed)) {
    return fmt::format("At {}, next to no settings of {} and {} are allowed.", slice.at.name,
                       slice.factor(slice.x).name, slice.factor(slice.y).name);
  }
  const std::string low = mean_text(drawn, drawn.low);
  const std::string high = mean_text(drawn, drawn.high);
  const std::string best = analysis::with_unit(high, drawn.response.response.unit);
  if (low == high) {
    return fmt::format("At {}, {} is {} in all of {}.", slice.at.name, name, best,
                       part_text(drawn)) +
           fraction_text(drawn);
  }
  const std::string where =
      where_highest(slice, within(drawn.mean, drawn.allowed), drawn.low, drawn.high);
  return (where.empty()
              ? fmt::format("At {}, {} ranges from {} to {}.", slice.at.name, name, low, best)
              : fmt::format("At {}, {} is highest with {}: {} to {}.", slice.at.name, name, where,
                            low, best)) +
         fraction_text(drawn);
}

/// The meaning of grey and of crosses.
std::string grey_text(const analysis::Analysis& analysis) {
  return fmt::format(" Grey: {}.{}", excluded_text(analysis),
                     analysis.feasibility ? " Crosses: runs that did not." : "");
}

std::string caption_of(const Drawn& drawn) {
  const Slice& slice = drawn.slice;
  const study::Response& response = drawn.response.response;
  const std::vector<doe::Factor>& factors = analysis::factors_of(slice.analysis);
  const std::string held =
      factors.size() > kMaxHeldNamed
          ? "the other factors at " + slice.at.name
          : analysis::settings_text(factors, slice.at.settings, {slice.x, slice.y});
  const bool misses = drawn.margin && fraction_met(*drawn.margin, drawn.allowed) != 1.0;
  return fmt::format(
      "Predicted mean of {}{}. Circles: measured runs, small if they lie off this slice.{}{}{}",
      analysis::name_with_unit(response.name, response.unit),
      held.empty()
          ? ""
          : ", with " + held + (factors.size() > kMaxHeldNamed ? "" : " (" + slice.at.name + ")"),
      slice.analysis.optimum ? " Star: the optimum." : "",
      misses ? " Hatched: a limit is violated." : "",
      drawn.allowed ? grey_text(slice.analysis) : "");
}

Figure contour_figure(const Drawn& drawn) {
  const Slice& slice = drawn.slice;
  const std::vector<double> levels = round_levels(drawn.low, drawn.high, kLevels);
  const doe::Factor& x = slice.factor(slice.x);
  const doe::Factor& y = slice.factor(slice.y);
  const std::string& name = drawn.response.response.name;
  Figure figure;
  figure.name =
      fmt::format("contour-{}-{}-{}", file_part(name), file_part(x.name), file_part(y.name));
  figure.title = title_of(drawn);
  figure.caption = caption_of(drawn);
  Chart chart(figure.name, factor_axis(x), factor_axis(y));
  draw_bands(chart, drawn.mean, levels, drawn.low, drawn.high);
  draw_lines(chart, drawn, levels);
  if (drawn.margin) draw_missed(chart, *drawn.margin);
  if (drawn.allowed) draw_excluded(chart, *drawn.allowed);
  draw_runs(chart, slice, drawn.response);
  draw_infeasible_runs(chart, slice);
  draw_optimum(chart, slice);
  figure.svg = chart.finish(figure.title);
  figure.data = {{"data-response", name}, {"data-x", x.name}, {"data-y", y.name}};
  return figure;
}

/// The slices of an analysis, with the grids shared by all responses.
class Slices {
 public:
  Slices(const analysis::Analysis& analysis, const analysis::Reference& at)
      : analysis_(analysis),
        at_(at),
        held_(doe::coded_point(analysis::factors_of(analysis), at.settings)) {}

  const Eigen::VectorXd& held() const { return held_; }

  Figure figure(std::size_t r, const FactorPair& pair) {
    const Slice slice{analysis_, at_, held_, pair.x, pair.y};
    auto [known, is_new] = drawn_.try_emplace({pair.x, pair.y});
    if (is_new) known->second = over(slice);
    const Grid& mean = known->second.means[r];
    Grid permitted = within(mean, known->second.allowed);
    std::erase_if(permitted.z, [](double z) { return std::isnan(z); });
    const auto [low, high] = std::minmax_element(permitted.z.begin(), permitted.z.end());
    return contour_figure({slice, analysis_.responses[r], mean, known->second.margin,
                           known->second.allowed, *low, *high});
  }

 private:
  struct Grids {
    std::vector<Grid> means;  ///< one per response; empty without a fit
    std::optional<Grid> margin, allowed;
  };

  Grids over(const Slice& slice) const {
    Grids grids;
    for (const analysis::ResponseAnalysis& response : analysis_.responses) {
      grids.means.push_back(response.fit ? mean_over(slice, response) : Grid{});
    }
    grids.margin = margin_over(slice, grids.means);
    grids.allowed = allowed_over(slice);
    return grids;
  }

  const analysis::Analysis& analysis_;
  const analysis::Reference& at_;
  Eigen::VectorXd held_;  ///< coded
  std::map<std::pair<int, int>, Grids> drawn_;
};

}  // namespace

std::vector<Figure> contour_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  const analysis::Reference at = analysis::reference(analysis);
  Slices slices(analysis, at);
  for (std::size_t r = 0; r < analysis.responses.size(); ++r) {
    const analysis::ResponseAnalysis& response = analysis.responses[r];
    if (!response.fit || !analysis::varies(*response.fit)) continue;
    for (const FactorPair& pair : pairs_to_draw(analysis, response, slices.held())) {
      figures.push_back(slices.figure(r, pair));
    }
  }
  return figures;
}

}  // namespace doetune::reports
