// Files of reports/assets/ as strings inside the program.
#pragma once

#include <string_view>

namespace doetune::reports::assets {

extern const std::string_view style;     ///< report.css
extern const std::string_view plotly;    ///< plotly.min.js
extern const std::string_view evaluate;  ///< evaluate.js: the surfaces
extern const std::string_view student;   ///< student.js: Student's t
extern const std::string_view format;    ///< format.js: numbers for people
extern const std::string_view theme;     ///< theme.js: how plots look
extern const std::string_view settings;  ///< settings.js: the sliders and what they predict
extern const std::string_view profiles;  ///< profiles.js
extern const std::string_view contours;  ///< contours.js
extern const std::string_view report;    ///< report.js: puts the parts together

}  // namespace doetune::reports::assets
