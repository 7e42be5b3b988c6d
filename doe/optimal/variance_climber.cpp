#include "doe/optimal/variance_climber.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace doetune::doe {
namespace {

constexpr int kMaxSweeps = 50;
constexpr int kMaxSlides = 50;
constexpr int kHalvings = 8;  ///< of a step that leads downhill or out of the region
constexpr double kFirstSlide = 0.25;
constexpr double kMinClimbGain = 1e-14;  ///< relative

/// Calls `function` for every column that contains feature a of a coordinate, with the product of
/// the column's other features.
template <typename Function>
void for_each_part(const Coordinate& coordinate, int a, const Eigen::VectorXd& slots,
                   Function function) {
  for (std::size_t i = 0; i < coordinate.columns[a].size(); ++i) {
    double others = 1;
    for (const int slot : coordinate.others[a][i]) others *= slots[slot];
    function(coordinate.columns[a][i], others);
  }
}

}  // namespace

double VarianceClimber::climb(Eigen::Ref<Eigen::VectorXd> x, double tolerance) {
  place(x);
  sweep(x, tolerance);
  if (space_.is_box()) return value_;
  double step = kFirstSlide;
  for (int i = 0; i < kMaxSlides && step > tolerance; ++i) {
    if (!slide(step, x)) step /= 4;
  }
  return value_;
}

void VarianceClimber::place(const Eigen::Ref<Eigen::VectorXd>& x) {
  slots_ = space_.features(x);
  const Eigen::RowVectorXd row = space_.row(x);
  vf_.noalias() = v_ * row.transpose();
  value_ = row * vf_;
}

void VarianceClimber::sweep(Eigen::Ref<Eigen::VectorXd> x, double tolerance) {
  for (int i = 0; i < kMaxSweeps; ++i) {
    double longest = 0;
    for (int c = 0; c < space_.coordinate_count(); ++c) {
      const double before = x[c];
      improve(c, x);
      longest = std::max(longest, std::abs(x[c] - before));
    }
    if (longest < tolerance) break;
  }
}

/// At the boundary of the region one coordinate must move before another can gain.
bool VarianceClimber::slide(double step, Eigen::Ref<Eigen::VectorXd> x) {
  for (int c = 0; c < space_.coordinate_count(); ++c) {
    if (space_.coordinates()[c].kind != Coordinate::Kind::kContinuous) continue;
    for (const double to : {std::max(x[c] - step, -1.0), std::min(x[c] + step, 1.0)}) {
      if (give_way(c, to, x)) return true;
    }
  }
  return false;
}

bool VarianceClimber::give_way(int c, double to, Eigen::Ref<Eigen::VectorXd> x) {
  const Eigen::VectorXd from = x;
  const double before = value_;
  x[c] = to;
  if (space_.allows(x)) {
    place(x);
    for (int other = 0; other < space_.coordinate_count(); ++other) {
      if (other != c) improve(other, x);
    }
    if (value_ > before * (1 + kMinClimbGain)) return true;
  }
  x = from;
  place(x);
  return false;
}

void VarianceClimber::improve(int c, Eigen::Ref<Eigen::VectorXd> x) {
  const Coordinate& coordinate = space_.coordinates()[c];
  if (coordinate.features == 0) return;
  select(coordinate);
  for (const double value : coordinate.values) {
    if (value != x[c]) try_move(c, value, x);
  }
  if (!coordinate.values.empty()) return;
  double step = newton_target(x[c]) - x[c];
  for (int i = 0; i < kHalvings && !try_move(c, x[c] + step, x); ++i) step /= 2;
}

void VarianceClimber::select(const Coordinate& coordinate) {
  const int features = coordinate.features;
  vu_.setZero(v_.rows(), features);
  slope_.setZero(features);
  form_.setZero(features, features);
  for (int a = 0; a < features; ++a) {
    for_each_part(coordinate, a, slots_, [&](int column, double u) {
      vu_.col(a) += u * v_.col(column);
      slope_[a] += u * vf_[column];
    });
  }
  for (int a = 0; a < features; ++a) {
    for_each_part(coordinate, a, slots_,
                  [&](int column, double u) { form_.row(a) += u * vu_.row(column); });
  }
}

bool VarianceClimber::try_move(int c, double to, Eigen::Ref<Eigen::VectorXd> x) {
  const Coordinate& coordinate = space_.coordinates()[c];
  auto slots = slots_.segment(coordinate.first_slot, coordinate.features);
  change_.resize(coordinate.features);
  for (int a = 0; a < coordinate.features; ++a) change_[a] = coordinate.feature(a, to) - slots[a];
  form_change_.noalias() = form_ * change_;
  const double gain = change_.dot(2 * slope_ + form_change_);
  if (!(gain > kMinClimbGain * value_)) return false;
  const double from = std::exchange(x[c], to);
  if (!space_.allows(x)) {
    x[c] = from;
    return false;
  }
  vf_.noalias() += vu_ * change_;
  slope_ += form_change_;
  slots += change_;
  value_ += gain;
  return true;
}

/// The maximiser of the parabola at x; if it has none, the uphill end of the range.
double VarianceClimber::newton_target(double x) const {
  const Eigen::Index features = slope_.size();
  Eigen::VectorXd first(features);  // derivatives of x, x^2, ...
  Eigen::VectorXd second(features);
  for (Eigen::Index a = 0; a < features; ++a) {
    first[a] = a == 0 ? 1 : static_cast<double>(a + 1) / static_cast<double>(a) * first[a - 1] * x;
    second[a] = a == 0 ? 0 : static_cast<double>(a + 1) * first[a - 1];
  }
  const double slope = 2 * slope_.dot(first);
  const double curvature = 2 * (slope_.dot(second) + first.dot(form_ * first));
  if (!(curvature < 0)) return slope > 0 ? 1 : -1;
  return std::clamp(x - slope / curvature, -1.0, 1.0);
}

}  // namespace doetune::doe
