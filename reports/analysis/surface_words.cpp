#include "reports/analysis/surface_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reports/analysis/slice.h"
#include "reports/format.h"

namespace doetune::reports {
namespace {

constexpr double kNearlyFlat = 0.1;   // of the largest curvature
constexpr double kPartOfAxis = 0.35;  // of a direction of length 1: factors that are named
constexpr double kFarOutside = 5;     // coded: beyond that a place says nothing

/// "a up with b down": the factors that a direction mostly consists of.
std::string direction_text(const std::vector<doe::Factor>& factors, Eigen::VectorXd direction) {
  Eigen::Index largest = 0;
  direction.cwiseAbs().maxCoeff(&largest);
  if (direction[largest] < 0) direction = -direction;
  std::vector<Eigen::Index> parts;
  for (Eigen::Index f = 0; f < direction.size(); ++f) {
    if (std::abs(direction[f]) > kPartOfAxis) parts.push_back(f);
  }
  if (parts.size() == 1) return factors[static_cast<std::size_t>(parts[0])].name;
  std::string text;
  for (const Eigen::Index f : parts) {
    text +=
        fmt::format("{}{} {}", text.empty() ? "" : " with ",
                    factors[static_cast<std::size_t>(f)].name, direction[f] > 0 ? "up" : "down");
  }
  return text;
}

std::string place_text(const std::vector<doe::Factor>& factors,
                       const surfaces::StationaryPoint& point) {
  if (point.coded.cwiseAbs().maxCoeff() > kFarOutside) return "far outside the region";
  std::string text;
  for (std::size_t f = 0; f < factors.size(); ++f) {
    text += fmt::format("{}{} = {}", text.empty() ? "at " : ", ", factors[f].name,
                        with_unit(short_number(point.settings[f]), factors[f].unit));
  }
  return text + (point.inside_region ? ", inside the region" : ", outside the region");
}

std::string kind_text(const std::string& kind) {
  if (kind == "maximum") return "A maximum";
  if (kind == "minimum") return "A minimum";
  if (kind == "saddle") return "A saddle, which rises one way and falls another,";
  return "A ridge, level along one direction,";
}

std::string certainty_text(const ResponseAnalysis& response, const std::string& kind) {
  const auto& shape = response.diagnostics.shape;
  if (!shape || kind == "ridge") return "";
  const double sure = kind == "maximum"   ? shape->maximum
                      : kind == "minimum" ? shape->minimum
                                          : shape->saddle;
  return fmt::format(" That it is one is {} sure.", percent(sure));
}

std::string curvature_text(const std::vector<doe::Factor>& factors,
                           const surfaces::StationaryPoint& point) {
  if (point.eigenvalues.size() < 2) return "";
  Eigen::Index most = 0, least = 0;
  const double largest = point.eigenvalues.cwiseAbs().maxCoeff(&most);
  const double smallest = point.eigenvalues.cwiseAbs().minCoeff(&least);
  std::string text = fmt::format(" It curves most along {}",
                                 direction_text(factors, point.eigenvectors.col(most)));
  if (smallest < kNearlyFlat * largest) {
    text += fmt::format(
        ", and hardly along {}: a ridge, on which settings do about equally well "
        "but for the slope",
        direction_text(factors, point.eigenvectors.col(least)));
  }
  return text + ".";
}

}  // namespace

std::string shape_words(const Analysis& analysis, const ResponseAnalysis& response) {
  const std::vector<doe::Factor>& factors = factors_of(analysis);
  if (response.other) {
    return fmt::format("Its surface is a {}, which has no such shape.", response.kind);
  }
  if (std::any_of(factors.begin(), factors.end(),
                  [](const doe::Factor& factor) { return factor.is_categorical(); })) {
    return "With categorical factors the shape is one of each level: see the profiles.";
  }
  if (!response.fit->stationary_point) {
    return "The surface has no curvature in some direction: it rises or falls to the edge of the "
           "region.";
  }
  const surfaces::StationaryPoint& point = *response.fit->stationary_point;
  const std::string value =
      std::isfinite(point.value) && point.coded.cwiseAbs().maxCoeff() <= kFarOutside
          ? fmt::format(": {} there", with_unit(short_number(point.value), response.response.unit))
          : "";
  return fmt::format("{} {}{}.{}{}", kind_text(point.kind), place_text(factors, point), value,
                     certainty_text(response, point.kind), curvature_text(factors, point));
}

}  // namespace doetune::reports
