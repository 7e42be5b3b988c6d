// Files of reports/assets/ as strings inside the program.
#pragma once

#include <string_view>

namespace doetune::reports::assets {

extern const std::string_view style;              ///< report.css
extern const std::string_view plotly;             ///< plotly.min.js
extern const std::string_view format;             ///< format.js: numbers for people
extern const std::string_view constraints;        ///< constraints.js: where runs are allowed
extern const std::string_view student;            ///< student.js: Student's t
extern const std::string_view transforms;         ///< transforms.js: of responses
extern const std::string_view polynomials;        ///< polynomials.js, as the next two: surfaces
extern const std::string_view kriging;            ///< kriging.js
extern const std::string_view parametric_models;  ///< parametric_models.js
extern const std::string_view evaluate;           ///< evaluate.js: what is predicted with them
extern const std::string_view theme;              ///< theme.js: how plots look
extern const std::string_view address;            ///< address.js: a view that can be shared
extern const std::string_view settings;   ///< settings.js: the sliders and what they predict
extern const std::string_view drawing;    ///< drawing.js: small charts
extern const std::string_view profiles;   ///< profiles.js
extern const std::string_view surface;    ///< surface.js: in three dimensions
extern const std::string_view contours;   ///< contours.js
extern const std::string_view downloads;  ///< downloads.js: figures as files
extern const std::string_view tables;     ///< tables.js: sorting
extern const std::string_view report;     ///< report.js: puts the parts together

}  // namespace doetune::reports::assets
