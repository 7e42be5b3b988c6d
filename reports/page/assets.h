// Files of reports/assets/ embedded as strings.
#pragma once

#include <string_view>

namespace doetune::reports::assets {

extern const std::string_view style;              ///< report.css
extern const std::string_view format;             ///< format.js: number formatting
extern const std::string_view constraints;        ///< constraints.js: permitted settings
extern const std::string_view student;            ///< student.js: Student's t distribution
extern const std::string_view transforms;         ///< transforms.js: response transforms
extern const std::string_view polynomials;        ///< polynomials.js: polynomial surfaces
extern const std::string_view kriging;            ///< kriging.js: Gaussian processes
extern const std::string_view parametric_models;  ///< parametric_models.js: parametric surfaces
extern const std::string_view evaluate;           ///< evaluate.js: predictions from surfaces
extern const std::string_view address;            ///< address.js: shareable view in the URL
extern const std::string_view settings;           ///< settings.js: sliders and their predictions
extern const std::string_view drawing;            ///< drawing.js: small charts
extern const std::string_view profiles;           ///< profiles.js: profile charts
extern const std::string_view contour_lines;      ///< contour_lines.js: contour lines of a grid
extern const std::string_view contour_plot;  ///< contour_plot.js: the drawing of a contour plot
extern const std::string_view surface;       ///< surface.js: three-dimensional plot
extern const std::string_view contours;      ///< contours.js: contour plots and their choosers
extern const std::string_view downloads;     ///< downloads.js: saving figures
extern const std::string_view tables;        ///< tables.js: sorting
extern const std::string_view live_style;    ///< live.css
extern const std::string_view live;          ///< live.js: the page of a running study
extern const std::string_view report;        ///< report.js: initialises the page

}  // namespace doetune::reports::assets
