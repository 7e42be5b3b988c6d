#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "doe/design.h"
#include "reports/figures/allowed.h"
#include "reports/figures/axes.h"
#include "reports/figures/curve_names.h"
#include "reports/figures/figures.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kMaxCurves = 6;
constexpr const char* kDashes[] = {"none", "8 4", "2 3", "9 3 2 3", "5 2", "1 2"};

constexpr Chart::Size kPerturbationSize{520, 330, 62};

struct Curve {
  std::string factor;
  Polyline line;
  std::vector<bool> allowed;
  double low = 0, high = 0;  ///< over allowed settings; 0 if there are none
  double known_to = 0;  ///< half-width of the 95 % interval of the mean at the lowest or highest
                        ///< point, whichever is larger

  double range() const { return high - low; }
};

/// Empty if the surface has a value that is not finite (an inverse transform has poles).
Curve curve_along(const analysis::Analysis& analysis, const analysis::ResponseAnalysis& response,
                  const analysis::Reference& at, int f, Eigen::VectorXd point) {
  const doe::Factor& factor = analysis::factors_of(analysis)[f];
  Curve curve;
  curve.factor = factor.name;
  const std::vector<double> positions = coded_positions(factor, point[f]);
  curve.allowed = allowed_along(analysis, at, {f}, f, point, positions);
  Polyline allowed;
  for (const double position : positions) {
    point[f] = position;
    curve.line.push_back({position, response.drawn()->response(point)});
    if (!std::isfinite(curve.line.back().y)) return {};
    if (curve.allowed[curve.line.size() - 1]) allowed.push_back(curve.line.back());
  }
  if (allowed.empty()) return curve;
  const auto [low, high] = std::minmax_element(allowed.begin(), allowed.end(),
                                               [](Point a, Point b) { return a.y < b.y; });
  for (const Point& end : {*low, *high}) {
    point[f] = end.x;
    curve.known_to =
        std::max(curve.known_to,
                 analysis::half_width(response.drawn()->predict(point).confidence_interval()));
  }
  curve.low = low->y;
  curve.high = high->y;
  return curve;
}

/// Curves of the numeric factors, largest range of the response first.
std::vector<Curve> curves_of(const analysis::Analysis& analysis,
                             const analysis::ResponseAnalysis& response,
                             const analysis::Reference& at) {
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  const Eigen::VectorXd point = doe::coded_point(factors, at.settings);
  std::vector<Curve> curves;
  for (const int f : analysis::numeric_factors(factors)) {
    curves.push_back(curve_along(analysis, response, at, f, point));
    if (curves.back().line.empty()) curves.pop_back();
  }
  std::stable_sort(curves.begin(), curves.end(),
                   [](const Curve& a, const Curve& b) { return a.range() > b.range(); });
  return curves;
}

/// Names alternate between the right and the left side.
void draw_names(Chart& chart, const std::vector<Curve>& curves) {
  std::vector<CurveEnd> left, right;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const bool is_right = i % 2 == 0;
    (is_right ? right : left)
        .push_back({is_right ? curves[i].line.back() : curves[i].line.front(), curves[i].factor,
                    series_colour(static_cast<int>(i))});
  }
  draw_curve_names(chart, right, Side::kRight);
  draw_curve_names(chart, left, Side::kLeft);
}

/// From low to high, extended at both sides for the names of the curves.
Axis axis_with_space_for(const std::vector<Curve>& curves) {
  std::vector<std::string> names;
  for (const Curve& curve : curves) names.push_back(curve.factor);
  const double space = space_for_names(names, 2, kPerturbationSize, 2);
  return {"position in each factor's range",
          -1 - space,
          1 + space,
          {{-1, "low"}, {0, "middle"}, {1, "high"}}};
}

bool any_excluded(const std::vector<Curve>& curves) {
  return std::any_of(curves.begin(), curves.end(),
                     [](const Curve& curve) { return excludes_any(curve.allowed); });
}

std::string title_of(const analysis::ResponseAnalysis& response, const std::vector<Curve>& curves,
                     const analysis::Reference& at) {
  const std::string& name = response.response.name;
  const auto size = [&](const Curve& curve) {
    return analysis::with_unit(analysis::difference_to(curve.range(), curve.known_to),
                               response.response.unit);
  };
  if (!(curves.front().range() > 0))
    return fmt::format("No factor has an effect on {} at {}{}.", name, at.name,
                       any_excluded(curves) ? " among allowed settings" : "");
  if (curves.size() == 1) {
    return fmt::format("{} changes {} by {} over {}.", curves[0].factor, name, size(curves[0]),
                       any_excluded(curves) ? "its allowed settings" : "its range");
  }
  return fmt::format("From {}, {} changes {} most, by {}, and {} least, by {}.", at.name,
                     curves.front().factor, name, size(curves.front()), curves.back().factor,
                     size(curves.back()));
}

Axis response_axis(const analysis::ResponseAnalysis& response, const std::vector<Curve>& curves) {
  double low = curves[0].line[0].y, high = low;
  for (const Curve& curve : curves) {
    for (const Point& p : curve.line) {
      low = std::min(low, p.y);
      high = std::max(high, p.y);
    }
  }
  return linear_axis(analysis::name_with_unit(response.response.name, response.response.unit), low,
                     high, 0.1);
}

Figure perturbation_figure(const analysis::Analysis& analysis,
                           const analysis::ResponseAnalysis& response, std::vector<Curve> curves,
                           const analysis::Reference& at) {
  Figure figure;
  figure.name = "perturbation-" + file_part(response.response.name);
  figure.title = title_of(response, curves, at);
  figure.caption = fmt::format(
      "Predicted mean of {} along each numeric factor from the low to the high end of its range, "
      "all others held at {}.",
      response.response.name, at.name);
  if (curves.size() > kMaxCurves) {
    figure.caption +=
        fmt::format(" The {} of {} factors with the largest effects.", kMaxCurves, curves.size());
    curves.resize(kMaxCurves);
  }
  if (any_excluded(curves)) {
    figure.caption +=
        fmt::format(" Thin grey: {}; the title leaves it out.", excluded_text(analysis));
  }
  Chart chart(figure.name, axis_with_space_for(curves), response_axis(response, curves),
              kPerturbationSize);
  chart.grid_lines();
  for (std::size_t i = 0; i < curves.size(); ++i) {
    draw_allowed_curve(chart, curves[i].line, curves[i].allowed, curves[i].factor,
                       {{"stroke", series_colour(static_cast<int>(i))},
                        {"stroke-width", "2.2"},
                        {"stroke-dasharray", kDashes[i]}});
  }
  draw_names(chart, curves);
  figure.svg = chart.finish(figure.title);
  return figure;
}

}  // namespace

std::vector<Figure> perturbation_figures(const analysis::Analysis& analysis) {
  std::vector<Figure> figures;
  const analysis::Reference at = analysis::reference(analysis);
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    if (response.surface() == nullptr) continue;
    std::vector<Curve> curves = curves_of(analysis, response, at);
    if (!curves.empty())
      figures.push_back(perturbation_figure(analysis, response, std::move(curves), at));
  }
  return figures;
}

}  // namespace doetune::reports
