// Static charts as SVG, styled by attributes only, so that they work without style sheets and
// scripts. Text and axes use `currentColor`, which a page may set.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/figures/contour.h"
#include "reports/markup/markup.h"

namespace doetune::reports {

struct Tick {
  double at = 0;
  std::string label;
};

/// An axis of a chart: range and ticks.
struct Axis {
  std::string title;
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;
  std::function<std::string(double)> text = {};  ///< a position as data; empty: as a number
};

/// An axis over [low, high], extended by `margin` of its length at both ends, with round ticks.
Axis linear_axis(std::string title, double low, double high, double margin = 0.05);

/// Two axes and marks in their coordinates. Regions and lines are clipped at the axes; circles,
/// stars and labels are drawn on top, unclipped, and omitted if their position is outside. Axis
/// labels get the space that they need and are tilted if they would overlap. Circles lose their
/// titles if there are very many; of tens of thousands, some of those that cover each other are
/// omitted, and the drawing says so. The finished drawing contains the coordinates of its circles
/// and curves as CSV in a metadata element.
class Chart {
 public:
  struct Size {
    double width = 420;
    double height = 330;
    double left = 62;  ///< space for labels of the vertical axis, extended as needed
  };

  /// `id` is unique among the charts of a page.
  Chart(std::string id, Axis x, Axis y, Size size);
  Chart(std::string id, Axis x, Axis y)
      : Chart(std::move(id), std::move(x), std::move(y), Size{}) {}

  void grid_lines();
  void region(const std::vector<Polyline>& rings, const Attributes& attributes);
  void line(const Polyline& points, const Attributes& attributes);
  /// Replaces the coordinates of circles and curves by this CSV text.
  void carry(std::string csv) { carried_ = std::move(csv); }

  /// A line that represents data of that name: its points are included in the CSV.
  void curve(const Polyline& points, std::string_view name, const Attributes& attributes);
  /// In the CSV a title such as "run 7: 209.6 ms" is shortened to its name.
  void circle(Point at, double radius, const Attributes& attributes, std::string_view title);
  void cross(Point at, double radius, const Attributes& attributes, std::string_view title);
  void star(Point at, double radius, const Attributes& attributes, std::string_view title);
  /// Text centred at a point, rotated by `degrees`, with a halo for legibility.
  void label(Point at, std::string_view text, double degrees = 0);
  /// Text beside a mark, `right` pixels to the right (left if negative) and `down` pixels below.
  void tag(Point at, std::string_view text, double right, double down = 0,
           std::string_view colour = "currentColor");

  /// A fill of diagonal grey hatching.
  std::string hatching() const { return "url(#" + id_ + "-hatch)"; }

  /// Converts to drawing coordinates (pixels, y downwards).
  Point pixel(Point at) const;

  /// Returns the finished drawing, with `description` as alternative text.
  std::string finish(std::string_view description);

 private:
  std::string frame() const;
  void write_x_label(const Tick& tick, Markup& out) const;
  bool x_labels_touch() const;
  void note(std::string_view name, Point at);
  void write_circles();
  void thin_circles();
  bool inside(Point at) const;
  std::string path(const Polyline& points, bool closed) const;

  std::string id_;
  Axis x_, y_;
  Size size_;
  double top_ = 12, right_ = 14, bottom_ = 46;
  Markup clipped_;  ///< regions and lines
  Markup marks_;    ///< circles, stars and labels on top of them
  struct Circle {
    Point at;  ///< in pixels
    std::string title;
    std::size_t row = 0, row_end = 0;  ///< of numbers_
  };
  struct Circles {  ///< consecutive circles of the same style
    double radius = 0;
    Attributes attributes;
    std::vector<Circle> each;
  };
  Circles circles_;      ///< not yet written to marks_
  bool tilted_ = false;  ///< whether labels of the horizontal axis are tilted
  std::string numbers_;  ///< CSV
  std::string carried_;  ///< instead of them
  std::string thinned_;  ///< what is said of points that are not drawn
};

/// The viridis colour at `fraction` in [0, 1], "#rrggbb": perceptually uniform, suitable for
/// colour-blind readers and greyscale; lightened by a third, so that dark labels are legible.
/// Source: van der Walt & Smith, matplotlib, CC0.
std::string viridis(double fraction);

/// A distinct colour for each of several series, suitable for colour-blind readers. Source: Okabe &
/// Ito (2008), "Color Universal Design".
std::string series_colour(int index);

}  // namespace doetune::reports
