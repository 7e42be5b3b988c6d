#include "reports/figures/svg.h"

#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <set>

#include "reports/figures/ticks.h"
#include "study/tables/csv.h"

namespace doetune::reports {
namespace {

constexpr double kTowardsWhite = 0.35;
constexpr double kTolerance = 0.15;  // maximum deviation of a simplified line in pixels

std::string px(double value) {
  const std::string text = fmt::format("{:.1f}", value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

constexpr double kLetter = 6.4;  // width in pixels of a letter of a tick label
constexpr std::size_t kLongest = 14;
constexpr std::size_t kMaxTitled = 300;  // maximum number of circles with titles
constexpr std::size_t kMaxDots = 5000;   // maximum number of circles of one style

double letters(std::string_view text) { return static_cast<double>(character_count(text)); }

double widest(const std::vector<Tick>& ticks) {
  double longest = 0;
  for (const Tick& tick : ticks) longest = std::max(longest, letters(tick.label));
  return kLetter * longest;
}

std::string fill_of(const Attributes& attributes) {
  for (const auto& [name, value] : attributes) {
    if (name == "fill") return value;
  }
  return "currentColor";
}

Attributes merged(Attributes first, const Attributes& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

Axis linear_axis(std::string title, double low, double high, double margin) {
  if (!(high > low)) {
    const double padding = low == 0 ? 1 : std::abs(low) * 0.1;
    low -= padding;
    high += padding;
  }
  const double padding = (high - low) * margin;
  Axis axis{std::move(title), low - padding, high + padding, {}};
  std::vector<double> levels = round_levels(axis.low, axis.high, 5);
  for (double& level : levels) {
    if (std::abs(level) < (high - low) * 1e-9) level = 0;
  }
  const std::vector<std::string> labels = tick_labels(levels);
  for (std::size_t i = 0; i < levels.size(); ++i) axis.ticks.push_back({levels[i], labels[i]});
  return axis;
}

Chart::Chart(std::string id, Axis x, Axis y, Size size)
    : id_(std::move(id)), x_(std::move(x)), y_(std::move(y)), size_(size) {
  clipped_.open("g", {{"clip-path", "url(#" + id_ + "-clip)"}});
  // Space for the title, then the labels.
  size_.left = std::max(size_.left, 24 + widest(y_.ticks) + 7);
  tilted_ = x_labels_touch();
  for (Tick& tick : x_.ticks) {
    if (tilted_) tick.label = shortened(tick.label, kLongest);
  }
  if (tilted_) bottom_ += 0.6 * widest(x_.ticks);
  // The last label is centred on its tick, possibly at the end of the axis.
  if (!tilted_ && !x_.ticks.empty()) {
    const double beyond = kLetter * letters(x_.ticks.back().label) / 2 -
                          (size_.width - pixel({x_.ticks.back().at, 0}).x) + 2;
    if (beyond > 0) right_ += beyond;
  }
  numbers_ = study::csv_row({"name", x_.title, y_.title});
}

bool Chart::x_labels_touch() const {
  for (std::size_t i = 1; i < x_.ticks.size(); ++i) {
    const double apart = pixel({x_.ticks[i].at, 0}).x - pixel({x_.ticks[i - 1].at, 0}).x;
    const double padding = (letters(x_.ticks[i].label) + letters(x_.ticks[i - 1].label)) / 2 + 1;
    if (padding * kLetter > std::abs(apart)) return true;
  }
  return false;
}

void Chart::note(std::string_view name, Point at) {
  const auto text = [](const Axis& axis, double position) {
    return axis.text ? axis.text(position) : fmt::format("{:.6g}", position);
  };
  numbers_ += study::csv_row({std::string(name), text(x_, at.x), text(y_, at.y)});
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

void Chart::curve(const Polyline& points, std::string_view name, const Attributes& attributes) {
  line(points, attributes);
  for (const Point& p : points) note(name, p);
}

void Chart::circle(Point at, double radius, const Attributes& attributes, std::string_view title) {
  const std::size_t row = numbers_.size();
  note(title.substr(0, title.rfind(": ")), at);
  if (!inside(at)) return;
  if (radius != circles_.radius || attributes != circles_.attributes) {
    write_circles();
    circles_ = {radius, attributes, {}};
  }
  circles_.each.push_back({pixel(at), std::string(title), row, numbers_.size()});
}

/// Keeps the first circle in each cell of a grid, so that the cloud keeps its outline and those
/// that stand alone. The numbers of the others are left out too.
void Chart::thin_circles() {
  std::vector<Circle>& all = circles_.each;
  const std::size_t count = all.size();
  std::vector<std::size_t> kept;
  for (double side = circles_.radius; kept.empty() || kept.size() > kMaxDots; side *= 1.25) {
    std::set<std::pair<long, long>> taken;
    kept.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const Point at = all[i].at;
      if (taken.emplace(std::lround(at.x / side), std::lround(at.y / side)).second) {
        kept.push_back(i);
      }
    }
  }
  std::string numbers = numbers_.substr(0, all.front().row);
  for (std::size_t i = 0, next = 0; i < count; ++i) {
    const bool stays = next < kept.size() && kept[next] == i;
    const std::size_t begin = stays ? all[i].row : all[i].row_end;
    const std::size_t end = i + 1 < count ? all[i + 1].row : numbers_.size();
    numbers += numbers_.substr(begin, end - begin);
    if (stays) all[next++] = std::move(all[i]);
  }
  numbers_ = std::move(numbers);
  all.resize(kept.size());
  thinned_ = fmt::format("{} of {} points drawn", kept.size(), count);
}

/// Draws many circles as one path of dots, each a line of zero length with round ends.
void Chart::write_circles() {
  if (circles_.each.size() > kMaxDots) thin_circles();
  if (circles_.each.size() > kMaxTitled) {
    std::string d;
    for (const Circle& circle : circles_.each) {
      d += "M" + px(circle.at.x) + " " + px(circle.at.y) + "h0";
    }
    marks_.empty("path", {{"d", d},
                          {"stroke", fill_of(circles_.attributes)},
                          {"stroke-opacity", "0.6"},
                          {"stroke-linecap", "round"},
                          {"stroke-width", px(1.4 * circles_.radius)}});
  } else if (!circles_.each.empty()) {
    marks_.open("g", circles_.attributes);
    for (const Circle& circle : circles_.each) {
      marks_.open("circle",
                  {{"cx", px(circle.at.x)}, {"cy", px(circle.at.y)}, {"r", px(circles_.radius)}});
      marks_.element("title", circle.title).close();
    }
    marks_.close();
  }
  circles_.each.clear();
}

void Chart::cross(Point at, double radius, const Attributes& attributes, std::string_view title) {
  if (!inside(at)) return;
  write_circles();
  const Point p = pixel(at);
  const std::string path = fmt::format(
      "M{} {}L{} {}M{} {}L{} {}", px(p.x - radius), px(p.y - radius), px(p.x + radius),
      px(p.y + radius), px(p.x - radius), px(p.y + radius), px(p.x + radius), px(p.y - radius));
  marks_.open("path", merged({{"d", path}}, attributes));
  marks_.element("title", title).close();
}

void Chart::star(Point at, double radius, const Attributes& attributes, std::string_view title) {
  if (!inside(at)) return;
  write_circles();
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

void Chart::tag(Point at, std::string_view content, double right, double down,
                std::string_view colour) {
  if (!inside(at)) return;
  write_circles();
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
  write_circles();
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

void Chart::write_x_label(const Tick& tick, Markup& out) const {
  const double x = pixel({tick.at, 0}).x;
  const double y = size_.height - bottom_ + 16;
  if (!tilted_) {
    out.element("text", tick.label, {{"x", px(x)}, {"y", px(y)}, {"text-anchor", "middle"}});
    return;
  }
  out.element("text", tick.label,
              {{"transform", fmt::format("translate({} {}) rotate(-35)", px(x + 4), px(y - 4))},
               {"text-anchor", "end"}});
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
  for (const Tick& tick : x_.ticks) write_x_label(tick, out);
  for (const Tick& tick : y_.ticks) {
    const double at = pixel({0, tick.at}).y;
    out.element("text", tick.label,
                {{"x", px(left - 7)}, {"y", px(at)}, {"dy", "0.35em"}, {"text-anchor", "end"}});
  }
  const auto fitting = [](const std::string& title, double length) {
    return shortened(title, static_cast<std::size_t>(length / kLetter));
  };
  out.element("text", fitting(x_.title, size_.width),
              {{"x", px(middle)}, {"y", px(size_.height - 9)}, {"text-anchor", "middle"}});
  out.element("text", fitting(y_.title, size_.height),
              {{"transform", fmt::format("translate(14 {}) rotate(-90)", px((top_ + bottom) / 2))},
               {"text-anchor", "middle"}});
  return out.close().take();
}

std::string Chart::finish(std::string_view description) {
  clipped_.close();
  write_circles();
  Markup svg;
  svg.open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                   {"viewBox", fmt::format("0 0 {} {}", px(size_.width), px(size_.height))},
                   {"width", px(size_.width)},
                   {"height", px(size_.height)},
                   {"role", "img"},
                   {"color", "#222"},
                   {"font-family", "system-ui, sans-serif"}});
  svg.element("title", description).element("metadata", carried_.empty() ? numbers_ : carried_);
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
  if (!thinned_.empty()) {
    svg.element("text", thinned_,
                {{"x", px(size_.width - right_)},
                 {"y", px(top_ - 3)},
                 {"font-size", "10"},
                 {"fill", "currentColor"},
                 {"text-anchor", "end"}});
  }
  return svg.close().take();
}

std::string viridis(double fraction) {
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
  const double position = std::clamp(fraction, 0.0, 1.0) * (kAnchors.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(position), kAnchors.size() - 2);
  const double part = position - static_cast<double>(i);
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
