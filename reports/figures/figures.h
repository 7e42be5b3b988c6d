// The figures of a report as static SVG, each with its conclusion in one sentence.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/design_quality.h"
#include "reports/figures/svg.h"
#include "reports/markup/markup.h"

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
std::vector<Figure> contour_figures(const analysis::Analysis& analysis);

/// What contour_figures leaves out, in a sentence; empty where it draws all.
std::string contours_left_out(const analysis::Analysis& analysis);

/// One a response: its mean along every factor through the reference settings, with the 95 %
/// interval of the mean.
std::vector<Figure> profile_figures(const analysis::Analysis& analysis);

/// The pairs of responses whose goals are most at odds, up to three: measured runs, the predicted
/// settings that no others beat, the optimum, today's settings.
std::vector<Figure> trade_off_figures(const analysis::Analysis& analysis);

/// What trade_off_figures leaves out, in a sentence; empty where it draws all.
std::string trade_offs_left_out(const analysis::Analysis& analysis);

/// One a response: its largest coefficients in coded units with their 95 % intervals.
std::vector<Figure> effect_figures(const analysis::Analysis& analysis);

/// One a response whose fit has no residual freedom: half-normal plot with Lenth's margins.
std::vector<Figure> half_normal_figures(const analysis::Analysis& analysis);

/// One a response: its mean along all numeric factors through the reference settings, in one.
std::vector<Figure> perturbation_figures(const analysis::Analysis& analysis);

/// Of each response the pairs of factors that interact most: the mean over one factor, a line for
/// each level of the other, or for both ends of its range.
std::vector<Figure> interaction_figures(const analysis::Analysis& analysis);

/// One a response: its mean where one factor is a step off the optimum (tornado.h).
std::vector<Figure> tornado_figures(const analysis::Analysis& analysis);

/// Predicted against observed, residuals against fitted and in run order, normal plot, Cook's
/// distance, Box and Cox's profile; without an error estimate only the last.
std::vector<Figure> diagnostic_figures(const analysis::ResponseAnalysis& response);

/// The fraction of design space, the leverage of runs, the correlation of columns, and the power
/// of terms; what a singular design does not have is left out.
std::vector<Figure> design_figures(const analysis::Analysis& analysis,
                                   const analysis::DesignQuality& quality);

/// A name as part of a file name and an id: letters, digits and _ stay, others become _xHH.
std::string file_part(std::string_view name);

/// The axis of a factor in coded units, marked at settings that can be used; levels stand apart
/// by 1.
Axis factor_axis(const doe::Factor& factor);

/// Rows with a label each, the first on top: row i of n is at n - 1 - i.
Axis row_axis(const std::vector<std::string>& labels);

/// The size of a chart of such rows, with room for their labels.
Chart::Size size_of_rows(const Axis& rows);

/// Settings of a numeric factor to mark on an axis, natural units.
std::vector<double> marked_settings(const doe::Factor& factor);

/// Coded places along a factor at which a curve is drawn: its levels, or evenly over its range.
std::vector<double> coded_places(const doe::Factor& factor);

}  // namespace doetune::reports
