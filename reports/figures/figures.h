// The figures of a report as static SVG, each titled with its conclusion.
#pragma once

#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/design_quality.h"
#include "reports/figures/svg.h"
#include "reports/markup/markup.h"

namespace doetune::reports {

/// Titles that compare settings regard only allowed ones (allowed.h); curves are grey elsewhere.
struct Figure {
  std::string name;     ///< unique; file name without ".svg", and element id in the page
  std::string title;    ///< the conclusion, computed from the data
  std::string caption;  ///< what is drawn, and at which settings other factors are held
  std::string svg;
  Attributes data;  ///< data- attributes used by the interactive version
};

/// For each response, the pairs of numeric factors with the strongest interactions, other factors
/// at the reference settings: filled and labelled contours of the mean, the measured runs (small if
/// off the slice), the optimum, and hatching where a goal is missed.
std::vector<Figure> contour_figures(const analysis::Analysis& analysis);

/// What contour_figures omits, in a sentence; empty if nothing.
std::string contours_left_out(const analysis::Analysis& analysis);

/// One figure per response: its mean along every factor through the reference settings, with the 95
/// % confidence interval of the mean.
std::vector<Figure> profile_figures(const analysis::Analysis& analysis);

/// One figure per ramp of a study made by a sequential search: the measured values in run order and
/// the best so far.
std::vector<Figure> search_figures(const analysis::Analysis& analysis);

/// The most conflicting pairs of goals, up to three: measured runs, the predicted Pareto front, the
/// optimum, the baseline.
std::vector<Figure> trade_off_figures(const analysis::Analysis& analysis);

/// What trade_off_figures omits, in a sentence; empty if nothing.
std::string trade_offs_left_out(const analysis::Analysis& analysis);

/// One figure per response: its largest coefficients in coded units with 95 % confidence intervals.
std::vector<Figure> effect_figures(const analysis::Analysis& analysis);

/// One figure per response with a saturated fit: half-normal plot with Lenth's margins.
std::vector<Figure> half_normal_figures(const analysis::Analysis& analysis);

/// One figure per response: perturbation plot, the mean along all numeric factors through the
/// reference settings.
std::vector<Figure> perturbation_figures(const analysis::Analysis& analysis);

/// For each response the strongest interactions: the mean over one factor, with a line for each
/// level, or for both ends of the range, of the other.
std::vector<Figure> interaction_figures(const analysis::Analysis& analysis);

/// One figure per response: its mean with a single factor one step off the optimum (tornado.h).
std::vector<Figure> tornado_figures(const analysis::Analysis& analysis);

/// Predicted against observed, residuals against fitted values and in run order, normal plot,
/// Cook's distance, Box-Cox profile; without an error estimate only the last.
std::vector<Figure> diagnostic_figures(const analysis::ResponseAnalysis& response);

/// Fraction of design space, leverage of runs, correlation of columns, and power of terms; omits
/// those that do not exist for a singular design.
std::vector<Figure> design_figures(const analysis::Analysis& analysis,
                                   const analysis::DesignQuality& quality);

}  // namespace doetune::reports
