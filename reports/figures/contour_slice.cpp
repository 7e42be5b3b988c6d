#include "reports/figures/contour_slice.h"

#include <algorithm>
#include <cmath>

#include "reports/figures/allowed.h"

namespace doetune::reports {
namespace {

constexpr int kNodes = 41;
constexpr int kFiner = 4;

Grid over(const Slice& slice, int nodes,
          const std::function<double(const Eigen::VectorXd&)>& value) {
  Eigen::VectorXd point = slice.held;
  return square_grid(-1, 1, nodes, [&](double cx, double cy) {
    point[slice.x] = cx;
    point[slice.y] = cy;
    return value(point);
  });
}

/// The points of a grid, one per row, in the order of its values.
Eigen::MatrixXd points_of(const Slice& slice, int nodes) {
  Eigen::MatrixXd all(nodes * nodes, slice.held.size());
  Eigen::Index row = 0;
  over(slice, nodes, [&](const Eigen::VectorXd& point) {
    all.row(row++) = point.transpose();
    return 0;
  });
  return all;
}

/// Distance of y from its nearest limit in units of the goal's scale; negative outside the limits.
double margin(const surfaces::Goal& goal, double y) {
  return std::min(y - goal.met_low(), goal.met_high() - y) / goal.scale;
}

}  // namespace

double Slice::distance(const Eigen::VectorXd& coded) const {
  double distance = 0;
  for (int f = 0; f < coded.size(); ++f) {
    if (f == x || f == y) continue;
    distance = std::max(distance, std::abs(coded[f] - held[f]));
  }
  return distance;
}

Grid mean_over(const Slice& slice, const analysis::ResponseAnalysis& response) {
  const double low = response.fit->observed.minCoeff();
  const double high = response.fit->observed.maxCoeff();
  const double reach = 5 * std::max(high - low, 1e-300);
  Grid grid = over(slice, kNodes, [](const Eigen::VectorXd&) { return 0; });
  const Eigen::VectorXd means = response.drawn()->responses(points_of(slice, kNodes));
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    grid.z[static_cast<std::size_t>(i)] = std::clamp(means[i], low - reach, high + reach);
  }
  return grid;
}

std::optional<Grid> margin_over(const Slice& slice, const std::vector<Grid>& means) {
  std::optional<Grid> smallest;
  const analysis::Analysis& analysis = slice.analysis;
  for (std::size_t r = 0; r < means.size(); ++r) {
    const surfaces::Goal* goal = analysis::goal_of(analysis, analysis.responses[r].response.name);
    if (goal == nullptr || !goal->is_limit() || means[r].z.empty()) continue;
    if (!smallest) smallest = over(slice, kNodes, [](const Eigen::VectorXd&) { return 1; });
    for (std::size_t i = 0; i < smallest->z.size(); ++i) {
      smallest->z[i] = std::clamp(margin(*goal, means[r].z[i]), -1.0, smallest->z[i]);
    }
  }
  return smallest;
}

std::optional<Grid> allowed_over(const Slice& slice) {
  const bool is_box = slice.analysis.directory->study.region.is_box();
  if (is_box && !slice.analysis.feasibility) return std::nullopt;
  constexpr int kFineNodes = kFiner * (kNodes - 1) + 1;
  const std::vector<bool> is_allowed =
      allowed_at(slice.analysis, slice.at, {slice.x, slice.y}, points_of(slice, kFineNodes));
  if (!excludes_any(is_allowed)) return std::nullopt;
  std::size_t i = 0;  // the order of the grid's values
  return over(slice, kFineNodes, [&](const Eigen::VectorXd&) { return is_allowed[i++] ? 1 : -1; });
}

Grid within(const Grid& mean, const std::optional<Grid>& allowed) {
  Grid kept = mean;
  if (!allowed) return kept;
  for (int j = 0; j < kNodes; ++j) {
    for (int i = 0; i < kNodes; ++i) {
      if (allowed->at(kFiner * i, kFiner * j) >= 0) continue;
      kept.z[static_cast<std::size_t>(j * kNodes + i)] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  const bool none =
      std::all_of(kept.z.begin(), kept.z.end(), [](double z) { return std::isnan(z); });
  return none ? mean : kept;
}

std::optional<double> fraction_met(const Grid& margin, const std::optional<Grid>& allowed) {
  int met = 0, counted = 0;
  for (int j = 0; j < kNodes; ++j) {
    for (int i = 0; i < kNodes; ++i) {
      if (allowed && allowed->at(kFiner * i, kFiner * j) < 0) continue;
      ++counted;
      if (margin.at(i, j) >= 0) ++met;
    }
  }
  if (counted == 0) return std::nullopt;
  return static_cast<double>(met) / counted;
}

}  // namespace doetune::reports
