// Static figures: SVG by attributes alone, so that they show where style sheets and scripts are
// blocked. Text and axes are drawn in `currentColor`, which a page may set.
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

/// One axis of a chart: the range that is drawn, and where it is marked.
struct Axis {
  std::string title;
  double low = 0;
  double high = 1;
  std::vector<Tick> ticks;
  std::function<std::string(double)> text = {};  ///< a place as data; empty: the number itself
};

/// An axis over [low, high], widened by `margin` of its length at both ends, with round ticks.
Axis linear_axis(std::string title, double low, double high, double margin = 0.05);

/// Two axes and marks in their coordinates. Regions and lines are cut off at the axes; circles,
/// stars and labels lie above them, whole, and are left out where their place is outside. Labels of
/// the axes have the room they need: those that would touch are tilted. Where circles are many they
/// are drawn without their titles, and of thousands only some of those that cover each other, which
/// the drawing says. The finished drawing carries the numbers of its circles and curves: CSV in a
/// metadata element.
class Chart {
 public:
  struct Size {
    double width = 420;
    double height = 330;
    double left = 62;  ///< room for the vertical axis' labels, more where they need it
  };

  /// `id` is unique among the charts of a page.
  Chart(std::string id, Axis x, Axis y, Size size);
  Chart(std::string id, Axis x, Axis y)
      : Chart(std::move(id), std::move(x), std::move(y), Size{}) {}

  void grid_lines();
  void region(const std::vector<Polyline>& rings, const Attributes& attributes);
  void line(const Polyline& points, const Attributes& attributes);
  /// These numbers, as CSV, instead of those of circles and curves.
  void carry(std::string csv) { carried_ = std::move(csv); }

  /// A line that stands for data of that name: its points are among the numbers.
  void curve(const Polyline& points, std::string_view name, const Attributes& attributes);
  /// The numbers have the name alone of a title like "run 7: 209.6 ms".
  void circle(Point at, double radius, const Attributes& attributes, std::string_view title);
  void star(Point at, double radius, const Attributes& attributes, std::string_view title);
  /// Text centred on a point, turned by `degrees`, with a halo that keeps it legible.
  void label(Point at, std::string_view text, double degrees = 0);
  /// Text beside a mark, `right` pixels from it (left of it where negative) and `down` below.
  void tag(Point at, std::string_view text, double right, double down = 0,
           std::string_view colour = "currentColor");

  /// Diagonal grey hatching, as a fill.
  std::string hatching() const { return "url(#" + id_ + "-hatch)"; }

  /// In drawing coordinates (pixels, y downwards).
  Point pixel(Point at) const;

  /// The finished drawing, with `description` for readers who cannot see it.
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
  Markup marks_;    ///< what lies above them
  struct Circle {
    Point at;  ///< in pixels
    std::string title;
    std::size_t row = 0, row_end = 0;  ///< of numbers_
  };
  struct Circles {  ///< neighbours that look the same
    double radius = 0;
    Attributes attributes;
    std::vector<Circle> each;
  };
  Circles circles_;      ///< not yet among the marks
  bool tilted_ = false;  ///< the labels of the horizontal axis
  std::string numbers_;  ///< CSV
  std::string carried_;  ///< instead of them
  std::string thinned_;  ///< what is said of points that are not drawn
};

/// The colour at share 0..1 of viridis, "#rrggbb": even to the eye, legible to the colour-blind and
/// in greyscale; a third of the way to white, so that dark labels stay legible on all of it.
/// Source: van der Walt & Smith, matplotlib, CC0.
std::string viridis(double share);

/// One colour for each of several series, told apart by the colour-blind.
/// Source: Okabe & Ito (2008), "Color Universal Design".
std::string series_colour(int index);

}  // namespace doetune::reports
