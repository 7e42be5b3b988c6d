#include "reports/figures/allowed.h"

#include <fmt/format.h>

#include <algorithm>

#include "doe/design.h"

namespace doetune::reports {
namespace {

std::vector<double> settings_at(const std::vector<doe::Factor>& factors,
                                const analysis::Reference& at, const std::vector<int>& moved,
                                const Eigen::VectorXd& coded) {
  const std::vector<double> natural = doe::natural_settings(factors, coded);
  std::vector<double> settings = at.settings;
  for (const int f : moved) settings[static_cast<std::size_t>(f)] = natural[f];
  return settings;
}

}  // namespace

std::vector<bool> allowed_at(const analysis::Analysis& analysis, const analysis::Reference& at,
                             const std::vector<int>& moved, const Eigen::MatrixXd& coded) {
  std::vector<bool> allowed(static_cast<std::size_t>(coded.rows()), true);
  // A copy with its own expressions, since figures are drawn by several threads.
  const doe::Region region = analysis.directory->study.region.for_another_thread();
  if (!region.is_box()) {
    const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
    for (std::size_t i = 0; i < allowed.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      allowed[i] = region.allows(settings_at(factors, at, moved, coded.row(row)));
    }
  }
  if (!analysis.feasibility) return allowed;
  const Eigen::VectorXd probabilities = analysis.feasibility->probabilities(coded);
  for (std::size_t i = 0; i < allowed.size(); ++i) {
    if (probabilities[static_cast<Eigen::Index>(i)] < analysis.min_feasibility) allowed[i] = false;
  }
  return allowed;
}

std::vector<bool> allowed_along(const analysis::Analysis& analysis, const analysis::Reference& at,
                                const std::vector<int>& moved, int f, const Eigen::VectorXd& point,
                                const std::vector<double>& positions) {
  Eigen::MatrixXd coded =
      point.transpose().replicate(static_cast<Eigen::Index>(positions.size()), 1);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    coded(static_cast<Eigen::Index>(i), f) = positions[i];
  }
  return allowed_at(analysis, at, moved, coded);
}

bool excludes_any(const std::vector<bool>& allowed) {
  return std::find(allowed.begin(), allowed.end(), false) != allowed.end();
}

std::string excluded_text(const analysis::Analysis& analysis) {
  const std::string constrained = "excluded by the study's constraints";
  if (!analysis.feasibility) return constrained;
  const std::string unlikely = fmt::format("a run completes with a probability below {:.0f} %",
                                           100 * analysis.min_feasibility);
  return analysis.directory->study.region.is_box() ? unlikely : constrained + ", or " + unlikely;
}

std::vector<Polyline> parts_of(const Polyline& line, const std::vector<bool>& allowed,
                               bool wanted) {
  std::vector<Polyline> parts;
  bool open = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const bool continues = (allowed[i] && allowed[i + 1]) == wanted;
    if (continues && !open) parts.push_back({line[i]});
    if (continues) parts.back().push_back(line[i + 1]);
    open = continues;
  }
  return parts;
}

void draw_allowed_curve(Chart& chart, const Polyline& line, const std::vector<bool>& allowed,
                        std::string_view name, const Attributes& attributes) {
  Attributes grey = attributes;
  for (auto& [key, value] : grey) {
    if (key == "stroke") value = kExcludedLine;
    if (key == "stroke-width") value = "1";
  }
  for (const Polyline& part : parts_of(line, allowed, false)) {
    chart.curve(part, std::string(name) + ", not allowed", grey);
  }
  for (const Polyline& part : parts_of(line, allowed, true)) chart.curve(part, name, attributes);
}

}  // namespace doetune::reports
