#include "doe/optimal/minimax_descent.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace doetune::doe {
namespace {

constexpr int kMaxSteps = 30;          ///< at one sharpness
constexpr int kMaxDescentPasses = 10;  ///< alternating between numeric factors and levels
constexpr double kSpread = 12;  ///< peaks with a relative weight below exp(-kSpread) are omitted
constexpr double kMinPart = 0.3;
constexpr double kSharp = 500;  ///< above this sharpness peaks are climbed to full precision
constexpr double kRoughTop = 1e-2;
constexpr double kVeryTop = 1e-5;
constexpr double kMinDescentGain = 1e-12;
constexpr double kWorthGain = 1e-2;  ///< divided by b: minimum gain of a step for another to follow
constexpr double kEnd = 1 - 1e-9;    ///< beyond this a numeric factor is at its limit
constexpr double kMinDamping = 1e-7;
constexpr double kMaxDamping = 1e7;
constexpr double kDampingFactor = 5;
constexpr double kMinCondition = 1e-9;  ///< reciprocal condition number of M

double smooth_maximum(const Eigen::ArrayXd& heights, double sharpness) {
  const double highest = heights.maxCoeff();
  return highest + std::log((sharpness * (heights - highest)).exp().sum()) / sharpness;
}

}  // namespace

MinimaxDescent::MinimaxDescent(const MinimaxProblem& problem, Eigen::MatrixXd design,
                               std::function<bool()> stop)
    : problem_(problem),
      stop_(std::move(stop)),
      best_design_(std::move(design)),
      best_(std::numeric_limits<double>::infinity()) {
  for (const Coordinate& coordinate : problem_.finder.space().coordinates()) {
    if (coordinate.features == 0) continue;
    (coordinate.kind == Coordinate::Kind::kContinuous ? has_numbers_ : has_levels_) = true;
  }
}

void MinimaxDescent::descend(const Sharpening& sharpening) {
  for (sharpness_ = sharpening.first; sharpness_ < sharpening.last * (1 + 1e-9);
       sharpness_ *= sharpening.factor) {
    state_ = evaluate(best_design_);
    if (!state_) return;
    for (int pass = 0; pass < kMaxDescentPasses && !stop_(); ++pass) {
      const bool numbers_moved = has_numbers_ && move_numbers();
      if (!has_levels_ || !change_levels() || !numbers_moved) break;
    }
  }
}

void MinimaxDescent::settle(const Sharpening& sharpening) {
  if (!has_numbers_) return;
  for (Eigen::Index i = 0; i < best_design_.rows(); ++i) {
    best_design_.row(i) =
        problem_.finder.space().usable(best_design_.row(i).transpose()).transpose();
  }
  best_ = std::numeric_limits<double>::infinity();
  for (sharpness_ = sharpening.first; sharpness_ < sharpening.last * (1 + 1e-9);
       sharpness_ *= sharpening.factor) {
    state_ = evaluate(best_design_);
    if (!state_) return;
    for (int pass = 0; pass < kMaxDescentPasses && !stop_(); ++pass) {
      if (!change_to_neighbours()) break;
    }
  }
}

std::optional<MinimaxDescent::State> MinimaxDescent::evaluate(Eigen::MatrixXd design) {
  const SearchSpace& space = problem_.finder.space();
  State state{std::move(design), problem_.base, {}, {}, 0};
  for (Eigen::Index i = 0; i < state.design.rows(); ++i) {
    const Eigen::RowVectorXd row = space.row(state.design.row(i).transpose());
    state.information.noalias() += row.transpose() * row;
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(state.information);
  if (factor.info() != Eigen::Success || !(factor.rcond() > kMinCondition)) return std::nullopt;
  const auto p = state.information.rows();
  state.inverse = factor.solve(Eigen::MatrixXd::Identity(p, p));
  state.peaks = problem_.finder.peaks(
      state.inverse, std::max(kMinPart, std::exp(-kSpread / sharpness_)),
      sharpness_ > kSharp ? kVeryTop : kRoughTop, state_ ? state_->peaks.at : Eigen::MatrixXd());
  state.smooth = smooth_maximum(state.peaks.value.array().log(), sharpness_);
  if (state.peaks.value[0] < best_) {
    best_ = state.peaks.value[0];
    best_design_ = state.design;
  }
  return state;
}

bool MinimaxDescent::adopt(std::optional<State> next) {
  if (!next || !(next->smooth < state_->smooth - kMinDescentGain)) return false;
  state_ = std::move(next);
  return true;
}

bool MinimaxDescent::move_numbers() {
  const double before = state_->smooth;
  for (int i = 0; i < kMaxSteps && !stop_(); ++i) {
    if (!step()) break;
  }
  return state_->smooth < before;
}

/// Whether the step gained enough to try another.
bool MinimaxDescent::step() {
  const double before = state_->smooth;
  const Eigen::ArrayXd heights = state_->peaks.value.array().log();
  const Eigen::VectorXd weights = (sharpness_ * (heights - before)).exp();
  const Eigen::MatrixXd rates = slopes();
  for (; damping_ < kMaxDamping && !stop_(); damping_ *= kDampingFactor) {
    if (!adopt(evaluate(moved(rates, weights)))) continue;
    damping_ = std::max(damping_ / kDampingFactor, kMinDamping);
    return before - state_->smooth > kWorthGain / sharpness_;
  }
  damping_ = 1;
  return false;
}

/// J': d r_j / d x_ic = -2 (f_i' V f_j) (f_ic' V f_j) / d_j, n k x m, run by run.
Eigen::MatrixXd MinimaxDescent::slopes() const {
  const SearchSpace& space = problem_.finder.space();
  const Eigen::Index n = state_->design.rows();
  const Eigen::Index k = state_->design.cols();
  const Peaks& peaks = state_->peaks;
  Eigen::MatrixXd vf(space.column_count(), peaks.value.size());
  for (Eigen::Index j = 0; j < vf.cols(); ++j) {
    vf.col(j) = state_->inverse * space.row(peaks.at.col(j)).transpose();
  }
  Eigen::MatrixXd result(n * k, vf.cols());
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd x = state_->design.row(i).transpose();
    const Eigen::RowVectorXd weight =
        -2 * (space.row(x) * vf).cwiseQuotient(peaks.value.transpose());
    result.middleRows(i * k, k) = row_derivatives(space, x) * vf * weight.asDiagonal();
  }
  return result;
}

Eigen::MatrixXd MinimaxDescent::moved(const Eigen::MatrixXd& slopes,
                                      const Eigen::VectorXd& weights) const {
  Eigen::VectorXd downhill = -slopes * weights;
  Eigen::MatrixXd root = (slopes.colwise() + downhill) * weights.cwiseSqrt().asDiagonal();
  Eigen::MatrixXd design = state_->design;
  const Eigen::Index k = design.cols();
  for (Eigen::Index v = 0; v < downhill.size(); ++v) {
    const double outward = downhill[v] > 0 ? design(v / k, v % k) : -design(v / k, v % k);
    if (outward <= kEnd) continue;
    downhill[v] = 0;
    root.row(v).setZero();
  }
  Eigen::MatrixXd curvature = sharpness_ * root * root.transpose();
  curvature.diagonal().array() += damping_;
  const Eigen::VectorXd step = curvature.llt().solve(downhill);
  for (Eigen::Index i = 0; i < design.rows(); ++i) {
    Eigen::VectorXd run = design.row(i).transpose();
    move_run(step.segment(i * k, k), run);
    design.row(i) = run.transpose();
  }
  return design;
}

/// If the whole step leads out of the region, applies as much of it as is allowed, coordinate by
/// coordinate: twice, since moving one coordinate may make the step in another feasible.
void MinimaxDescent::move_run(const Eigen::VectorXd& step, Eigen::Ref<Eigen::VectorXd> run) const {
  const SearchSpace& space = problem_.finder.space();
  Eigen::VectorXd to = run;
  for (Eigen::Index c = 0; c < run.size(); ++c) {
    if (space.coordinates()[c].kind != Coordinate::Kind::kContinuous) continue;
    to[c] = std::clamp(run[c] + step[c], -1.0, 1.0);
  }
  if (space.allows(to)) {
    run = to;
    return;
  }
  for (Eigen::Index i = 0; i < 2 * run.size(); ++i) {
    const Eigen::Index c = i % run.size();
    const double from = std::exchange(run[c], to[c]);
    if (!space.allows(run)) run[c] = from;
  }
}

/// Whether any level changed.
bool MinimaxDescent::change_levels() {
  const std::vector<Coordinate>& coordinates = problem_.finder.space().coordinates();
  const double before = state_->smooth;
  for (Eigen::Index i = 0; i < state_->design.rows(); ++i) {
    for (int c = 0; c < static_cast<int>(coordinates.size()); ++c) {
      if (coordinates[c].features == 0) continue;
      for (const double value : coordinates[c].values) {
        if (stop_()) return state_->smooth < before;
        change_level(i, c, value);
      }
    }
  }
  return state_->smooth < before;
}

bool MinimaxDescent::change_to_neighbours() {
  const SearchSpace& space = problem_.finder.space();
  const double before = state_->smooth;
  for (Eigen::Index i = 0; i < state_->design.rows() && !stop_(); ++i) {
    for (int c = 0; c < space.coordinate_count(); ++c) {
      const Coordinate& coordinate = space.coordinates()[c];
      if (coordinate.kind != Coordinate::Kind::kContinuous || coordinate.features == 0) continue;
      for (const double value : space.next_usable(c, state_->design(i, c))) {
        if (change_level(i, c, value)) break;
      }
    }
  }
  return state_->smooth < before;
}

/// First requires a decrease of the variance at the old peaks, which is cheap to compute.
bool MinimaxDescent::change_level(Eigen::Index run, int coordinate, double value) {
  const SearchSpace& space = problem_.finder.space();
  Eigen::VectorXd x = state_->design.row(run).transpose();
  if (x[coordinate] == value) return false;
  const Eigen::RowVectorXd old_row = space.row(x);
  x[coordinate] = value;
  if (!space.allows(x)) return false;
  const Eigen::RowVectorXd new_row = space.row(x);
  const Eigen::LLT<Eigen::MatrixXd> factor(state_->information - old_row.transpose() * old_row +
                                           new_row.transpose() * new_row);
  if (factor.info() != Eigen::Success || !(factor.rcond() > kMinCondition)) return false;
  Eigen::ArrayXd heights(state_->peaks.value.size());
  for (Eigen::Index j = 0; j < heights.size(); ++j) {
    const Eigen::VectorXd f = space.row(state_->peaks.at.col(j)).transpose();
    heights[j] = std::log(factor.matrixL().solve(f).squaredNorm());
  }
  if (smooth_maximum(heights, sharpness_) > state_->smooth) return false;
  Eigen::MatrixXd design = state_->design;
  design.row(run) = x.transpose();
  return adopt(evaluate(std::move(design)));
}

}  // namespace doetune::doe
