// The figures of a report as static SVG, each with its conclusion in one sentence.
#pragma once

#include <string>
#include <vector>

#include "reports/analysis.h"
#include "reports/markup.h"
#include "reports/svg.h"

namespace doetune::reports {

struct Figure {
  std::string name;     ///< unique; the file name without ".svg", and the id in the page
  std::string title;    ///< the conclusion, computed from the data
  std::string caption;  ///< what is drawn, and what is held where
  std::string svg;
  Attributes data;  ///< data- attributes by which the page's scripts draw it interactively
};

/// Of each response, the pairs of numeric factors that interact most, the other factors at the
/// reference settings: filled and labelled contours of the mean, the measured runs (small where off
/// the slice), the optimum, and hatched the region that misses a goal.
std::vector<Figure> contour_figures(const Analysis& analysis);

/// What contour_figures leaves out, in a sentence; empty where it draws all.
std::string contours_left_out(const Analysis& analysis);

/// One a response: its mean along every factor through the reference settings, with the 95 %
/// interval of the mean.
std::vector<Figure> profile_figures(const Analysis& analysis);

/// One a response: coefficients in coded units with their 95 % intervals, largest first.
std::vector<Figure> effect_figures(const Analysis& analysis);

/// One a response, categorical factor and other factor: the mean over the other factor, a line a
/// level.
std::vector<Figure> interaction_figures(const Analysis& analysis);

/// Three a response: predicted against observed, residuals in run order, normal plot.
std::vector<Figure> diagnostic_figures(const Analysis& analysis);

/// A name as part of a file name and an id: letters, digits and _ stay, others become _xHH.
std::string file_part(std::string_view name);

/// The axis of a factor in coded units, marked at settings that can be used; levels stand apart
/// by 1.
Axis factor_axis(const doe::Factor& factor);

/// Settings of a numeric factor to mark on an axis, natural units.
std::vector<double> marked_settings(const doe::Factor& factor);

/// Coded places along a factor at which a curve is drawn: its levels, or evenly over its range.
std::vector<double> coded_places(const doe::Factor& factor);

}  // namespace doetune::reports
