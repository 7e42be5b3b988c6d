// Which settings a figure may promise, and how it shows the others.
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/reference_point.h"
#include "reports/figures/svg.h"

namespace doetune::reports {

inline constexpr const char* kExcludedFill = "#d9dde2";
inline constexpr const char* kExcludedLine = "#8b949e";

/// Of coded points, one per row: whether constraints and forbidden combinations permit the settings
/// and a run is as likely to complete as recommended settings must be. All factors but those of
/// `moved` have exactly the settings of the reference.
std::vector<bool> allowed_at(const analysis::Analysis& analysis, const analysis::Reference& at,
                             const std::vector<int>& moved, const Eigen::MatrixXd& coded);

/// The same for a factor at these coded positions, from `point`.
std::vector<bool> allowed_along(const analysis::Analysis& analysis, const analysis::Reference& at,
                                const std::vector<int>& moved, int f, const Eigen::VectorXd& point,
                                const std::vector<double>& positions);

bool excludes_any(const std::vector<bool>& allowed);

/// Why settings are not allowed: "a run completes with a probability below 95 %".
std::string excluded_text(const analysis::Analysis& analysis);

/// The parts of a line that are entirely allowed, or its other parts.
std::vector<Polyline> parts_of(const Polyline& line, const std::vector<bool>& allowed, bool wanted);

/// A curve whose parts that are not allowed are thin and grey.
void draw_allowed_curve(Chart& chart, const Polyline& line, const std::vector<bool>& allowed,
                        std::string_view name, const Attributes& attributes);

}  // namespace doetune::reports
