#include "analysis/surface_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/study_tests.h"
#include "doe/design.h"

namespace doetune::analysis {
namespace {

constexpr double kNearlyFlat = 0.1;   // relative to the largest curvature
constexpr double kPartOfAxis = 0.35;  // component of a unit vector above which a factor is named
constexpr double kFarOutside = 5;     // coded; a location farther out is not reported

/// "along a", "as a and b rise together", "as a rises and b falls": the main factors of a
/// direction.
std::string direction_text(const std::vector<doe::Factor>& factors, Eigen::VectorXd direction) {
  Eigen::Index largest = 0;
  direction.cwiseAbs().maxCoeff(&largest);
  if (direction[largest] < 0) direction = -direction;
  std::vector<std::string> rising, falling;
  for (Eigen::Index f = 0; f < direction.size(); ++f) {
    if (std::abs(direction[f]) <= kPartOfAxis) continue;
    (direction[f] > 0 ? rising : falling).push_back(factors[static_cast<std::size_t>(f)].name);
  }
  if (rising.size() + falling.size() == 1) return "along " + rising.front();
  if (falling.empty()) return fmt::format("as {} rise together", listed(rising));
  return fmt::format("as {} {} and {} {}", listed(rising), rising.size() == 1 ? "rises" : "rise",
                     listed(falling), falling.size() == 1 ? "falls" : "fall");
}

bool is_far(const std::vector<doe::Factor>& factors, const surfaces::StationaryPoint& point) {
  const std::vector<int> numeric = numeric_factors(factors);
  return point.coded(numeric).cwiseAbs().maxCoeff() > kFarOutside;
}

std::string point_text(const std::vector<doe::Factor>& factors,
                       const surfaces::StationaryPoint& point) {
  if (is_far(factors, point)) return "far outside the region";
  std::vector<std::string> coordinates;
  for (const int f : numeric_factors(factors)) {
    const doe::Factor& factor = factors[static_cast<std::size_t>(f)];
    const double setting = point.settings[static_cast<std::size_t>(f)];
    coordinates.push_back(factor.name + " = " +
                          with_unit(number_to(setting, std::abs(setting) / 10), factor.unit));
  }
  return fmt::format("at {}, {} the region", fmt::join(coordinates, ", "),
                     point.inside_region ? "inside" : "outside");
}

/// The response at the point, if meaningful: "; 283 images/s there".
std::string value_text(const ResponseAnalysis& response, const std::vector<doe::Factor>& factors,
                       const surfaces::StationaryPoint& point) {
  if (!std::isfinite(point.value) || is_far(factors, point)) return "";
  const double known_to = half_width(response.fit->predict(point.coded).confidence_interval());
  return fmt::format("; {} there",
                     with_unit(number_to(point.value, known_to), response.response.unit));
}

/// "a maximum (65 % sure)": the probability is known only for studies without categorical factors.
std::string kind_text(const ResponseAnalysis& response, const std::string& kind) {
  if (kind == "ridge") return "a ridge, flat along one direction,";
  std::string text = "a " + kind;
  if (const auto& shape = response.diagnostics.shape) {
    const double sure = kind == "maximum"   ? shape->maximum
                        : kind == "minimum" ? shape->minimum
                                            : shape->saddle;
    text += fmt::format(" (probability {})", chance_text(sure));
  }
  return kind == "saddle" ? text + ", which rises one way and falls another," : text;
}

std::string curvature_text(const std::vector<doe::Factor>& factors,
                           const surfaces::StationaryPoint& point) {
  if (point.eigenvalues.size() < 2) return "";
  Eigen::Index index_of_largest = 0, index_of_smallest = 0;
  const double largest = point.eigenvalues.cwiseAbs().maxCoeff(&index_of_largest);
  const double smallest = point.eigenvalues.cwiseAbs().minCoeff(&index_of_smallest);
  std::string text = fmt::format(" It curves most {}",
                                 direction_text(factors, point.eigenvectors.col(index_of_largest)));
  if (smallest < kNearlyFlat * largest) {
    text += fmt::format(
        ", and hardly {}: a ridge, along which the response changes little apart from the slope",
        direction_text(factors, point.eigenvectors.col(index_of_smallest)));
  }
  return text + ".";
}

}  // namespace

std::string why_no_shape(const ResponseAnalysis& response) {
  const auto idle = p_without_effect(*response.fit, response.levels.surface);
  if (!idle) return "";
  return fmt::format("not determined, as no factor is shown to have an effect ({})",
                     p_words(*idle));
}

std::string shape_words(const Analysis& analysis, const ResponseAnalysis& response) {
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  if (response.other) {
    return fmt::format("Its surface is a {}, to which this analysis does not apply.",
                       doe::word_of(response.kind));
  }
  if (const std::string why = why_no_shape(response); !why.empty()) return capitalised(why) + ".";
  const Reference at = reference(analysis);
  const auto point =
      surfaces::stationary_point_at(*response.fit, doe::coded_point(factors, at.settings));
  const std::string levels = settings_text(factors, at.settings, numeric_factors(factors));
  const std::string start = levels.empty() ? "" : "with " + levels + " ";
  const std::string text =
      point ? fmt::format("{}{} {}{}.{}", start, kind_text(response, point->kind),
                          point_text(factors, *point), value_text(response, factors, *point),
                          curvature_text(factors, *point))
            : start + (numeric_factors(factors).empty()
                           ? "there is no numeric factor."
                           : "the surface has no curvature in some direction: it rises or falls "
                             "to the edge of the region.");
  return capitalised(text);
}

}  // namespace doetune::analysis
