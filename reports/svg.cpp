#include "reports/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "reports/format.h"

namespace doetune::reports {
namespace {

constexpr double kTowardsWhite = 0.35;
constexpr double kRow = 24;          // pixels
constexpr double kTolerance = 0.15;  // pixels that a simplified line may be off

std::string px(double value) {
  const std::string text = fmt::format("{:.1f}", value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

Attributes merged(Attributes first, const Attributes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

Axis linear_axis(std::string title, double low, double high, double margin) {
  if (!(high > low)) {
    const double room = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= room;
    high += room;
  }
  const double room = (high - low) * margin;
  Axis axis{std::move(title), low - room, high + room, {}};
  for (const double level : round_levels(axis.low, axis.high, 5)) {
    const double rounded = std::abs(level) < (high - low) * 1e-9 ? 0 : level;
    axis.ticks.push_back({level, short_number(rounded)});
  }
  return axis;
}

Axis row_axis(const std::vector<std::string>& labels) {
  const double count = static_cast<double>(labels.size());
  Axis axis{"", -0.7, count - 0.3, {}};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    axis.ticks.push_back({count - 1 - static_cast<double>(i), labels[i]});
  }
  return axis;
}

Chart::Size Chart::size_for(const Axis& rows) {
  std::size_t longest = 0;
  for (const Tick& tick : rows.ticks) longest = std::max(longest, tick.label.size());
  const double left = std::clamp(7.0 * static_cast<double>(longest) + 14, 60.0, 330.0);
  return {left + 320, 62 + kRow * (rows.high - rows.low), left};
}

Chart::Chart(std::string id, Axis x, Axis y, Size size)
    : id_(std::move(id)), x_(std::move(x)), y_(std::move(y)), size_(size) {
  clipped_.open("g", {{"clip-path", "url(#" + id_ + "-clip)"}});
}

Point Chart::pixel(Point at) const {
  const double width = size_.width - size_.left - right_;
  const double height = size_.height - top_ - bottom_;
  return {size_.left + width * (at.x - x_.low) / (x_.high - x_.low),
          top_ + height * (y_.high - at.y) / (y_.high - y_.low)};
}

bool Chart::inside(Point at) const {
  const double slack = 1e-9;
  return at.x >= x_.low - slack && at.x <= x_.high + slack && at.y >= y_.low - slack &&
         at.y <= y_.high + slack;
}

std::string Chart::path(const Polyline& points, bool closed) const {
  Polyline drawn;
  for (const Point& p : points) drawn.push_back(pixel(p));
  drawn = simplified(drawn, kTolerance);
  std::string out;
  for (const Point& p : drawn) out += (out.empty() ? "M" : "L") + px(p.x) + " " + px(p.y);
  return closed ? out + "Z" : out;
}

void Chart::grid_lines() {
  const Attributes style = {{"stroke", "currentColor"}, {"stroke-opacity", "0.15"}};
  for (const Tick& tick : x_.ticks) line({{tick.at, y_.low}, {tick.at, y_.high}}, style);
  for (const Tick& tick : y_.ticks) line({{x_.low, tick.at}, {x_.high, tick.at}}, style);
}

void Chart::region(const std::vector<Polyline>& rings, const Attributes& attributes) {
  std::string d;
  for (const Polyline& ring : rings) d += path(ring, true);
  if (d.empty()) return;
  clipped_.empty("path", merged({{"d", d}, {"fill-rule", "evenodd"}}, attributes));
}

void Chart::line(const Polyline& points, const Attributes& attributes) {
  clipped_.empty("path", merged({{"d", path(points, false)}, {"fill", "none"}}, attributes));
}

void Chart::circle(Point at, double radius, const Attributes& attributes, std::string_view title) {
  if (!inside(at)) return;
  const Point p = pixel(at);
  marks_.open("circle", merged({{"cx", px(p.x)}, {"cy", px(p.y)}, {"r", px(radius)}}, attributes));
  marks_.element("title", title).close();
}

void Chart::star(Point at, double radius, const Attributes& attributes, std::string_view title) {
  if (!inside(at)) return;
  const Point p = pixel(at);
  std::string points;
  for (int i = 0; i < 10; ++i) {
    const double angle = std::numbers::pi * (i / 5.0 - 0.5);
    const double r = i % 2 == 0 ? radius : radius * 0.42;
    points += px(p.x + r * std::cos(angle)) + "," + px(p.y + r * std::sin(angle)) + " ";
  }
  marks_.open("polygon", merged({{"points", points}}, attributes));
  marks_.element("title", title).close();
}

void Chart::dots(const std::vector<Point>& at, double radius, std::string_view colour) {
  std::string d;
  for (const Point& point : at) {
    if (!inside(point)) continue;
    const Point p = pixel(point);
    d += "M" + px(p.x) + " " + px(p.y) + "h0";
  }
  if (d.empty()) return;
  marks_.empty("path", {{"d", d},
                        {"fill", "none"},
                        {"stroke", std::string(colour)},
                        {"stroke-opacity", "0.75"},
                        {"stroke-width", px(2 * radius)},
                        {"stroke-linecap", "round"}});
}

void Chart::tag(Point at, std::string_view content, double right, double down,
                std::string_view colour) {
  if (!inside(at)) return;
  const Point p = pixel(at);
  marks_.element("text", content,
                 {{"x", px(p.x + right)},
                  {"y", px(p.y + down)},
                  {"dy", "0.35em"},
                  {"text-anchor", right < 0   ? "end"
                                  : right > 0 ? "start"
                                              : "middle"},
                  {"font-size", "11"},
                  {"fill", std::string(colour)}});
}

void Chart::label(Point at, std::string_view content, double degrees) {
  if (!inside(at)) return;
  const Point p = pixel(at);
  marks_.element(
      "text", content,
      {{"transform", fmt::format("translate({} {}) rotate({})", px(p.x), px(p.y), px(degrees))},
       {"dy", "0.35em"},
       {"text-anchor", "middle"},
       {"font-size", "10.5"},
       {"fill", "#111"},
       {"stroke", "#fff"},
       {"stroke-width", "3"},
       {"stroke-linejoin", "round"},
       {"paint-order", "stroke"}});
}

std::string Chart::frame() const {
  Markup out;
  const double left = size_.left;
  const double bottom = size_.height - bottom_;
  const double middle = (left + size_.width - right_) / 2;
  out.empty("rect", {{"x", px(left)},
                     {"y", px(top_)},
                     {"width", px(size_.width - right_ - left)},
                     {"height", px(bottom - top_)},
                     {"fill", "none"},
                     {"stroke", "currentColor"},
                     {"stroke-opacity", "0.6"}});
  out.open("g", {{"fill", "currentColor"}, {"font-size", "11.5"}});
  for (const Tick& tick : x_.ticks) {
    const double at = pixel({tick.at, 0}).x;
    out.element("text", tick.label,
                {{"x", px(at)}, {"y", px(bottom + 16)}, {"text-anchor", "middle"}});
  }
  for (const Tick& tick : y_.ticks) {
    const double at = pixel({0, tick.at}).y;
    out.element("text", tick.label,
                {{"x", px(left - 7)}, {"y", px(at)}, {"dy", "0.35em"}, {"text-anchor", "end"}});
  }
  out.element("text", x_.title,
              {{"x", px(middle)}, {"y", px(size_.height - 9)}, {"text-anchor", "middle"}});
  out.element("text", y_.title,
              {{"transform", fmt::format("translate(14 {}) rotate(-90)", px((top_ + bottom) / 2))},
               {"text-anchor", "middle"}});
  return out.close().take();
}

std::string Chart::finish(std::string_view description) {
  clipped_.close();
  Markup svg;
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"viewBox", fmt::format("0 0 {} {}", px(size_.width), px(size_.height))},
                   {"width", px(size_.width)},
                   {"height", px(size_.height)},
                   {"role", "img"},
                   {"color", "#222"},
                   {"font-family", "system-ui, sans-serif"}});
  svg.element("title", description);
  svg.open("defs");
  svg.open("clipPath", {{"id", id_ + "-clip"}});
  svg.empty("rect", {{"x", px(size_.left)},
                     {"y", px(top_)},
                     {"width", px(size_.width - size_.left - right_)},
                     {"height", px(size_.height - top_ - bottom_)}});
  svg.close();
  svg.open("pattern", {{"id", id_ + "-hatch"},
                       {"width", "12"},
                       {"height", "12"},
                       {"patternUnits", "userSpaceOnUse"},
                       {"patternTransform", "rotate(45)"}});
  svg.empty("rect", {{"width", "12"}, {"height", "12"}, {"fill", "#888"}, {"fill-opacity", "0.7"}});
  svg.empty("rect", {{"width", "1"}, {"height", "12"}, {"fill", "#333"}, {"fill-opacity", "0.6"}});
  svg.close();
  svg.close();
  svg.empty("rect", {{"class", "paper"}, {"width", "100%"}, {"height", "100%"}, {"fill", "#fff"}});
  svg.raw(clipped_.take()).raw(frame()).raw(marks_.take());
  return svg.close().take();
}

std::string viridis(double share) {
  static constexpr std::array<std::array<double, 3>, 10> kAnchors = {{{68, 1, 84},
                                                                      {72, 40, 120},
                                                                      {62, 73, 137},
                                                                      {49, 104, 142},
                                                                      {38, 130, 142},
                                                                      {31, 158, 137},
                                                                      {53, 183, 121},
                                                                      {109, 205, 89},
                                                                      {180, 222, 44},
                                                                      {253, 231, 37}}};
  const double place = std::clamp(share, 0.0, 1.0) * (kAnchors.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(place), kAnchors.size() - 2);
  const double part = place - static_cast<double>(i);
  std::array<int, 3> rgb{};
  for (std::size_t c = 0; c < 3; ++c) {
    const double pure = kAnchors[i][c] + part * (kAnchors[i + 1][c] - kAnchors[i][c]);
    rgb[c] = static_cast<int>(std::lround(pure + (255 - pure) * kTowardsWhite));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

std::string series_colour(int index) {
  static constexpr std::array<std::string_view, 6> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                               "#cc79a7", "#e69f00", "#56b4e9"};
  return std::string(kColours[static_cast<std::size_t>(index) % kColours.size()]);
}

}  // namespace doetune::reports
