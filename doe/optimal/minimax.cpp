#include "doe/optimal/minimax.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

namespace doetune::doe {
namespace {

constexpr double kSpread = 12;  ///< a peak that weighs exp(-kSpread) of the highest is left out
constexpr double kLeastPart = 0.3;
constexpr double kEnds = 1e-9;  ///< a number so near its limit is at it
constexpr double kLeastDamping = 1e-7;
constexpr double kMostDamping = 1e7;

}  // namespace

MinimaxSearch::MinimaxSearch(const MinimaxProblem& problem, Eigen::MatrixXd design,
                             std::function<bool()> stop)
    : problem_(problem),
      stop_(std::move(stop)),
      best_design_(std::move(design)),
      best_(std::numeric_limits<double>::infinity()) {}

std::optional<MinimaxSearch::State> MinimaxSearch::evaluate(Eigen::MatrixXd design,
                                                            double sharpness) {
  const SearchSpace& space = problem_.finder.space();
  Eigen::MatrixXd information = problem_.base;
  for (Eigen::Index i = 0; i < design.rows(); ++i) {
    const Eigen::RowVectorXd row = space.row(design.row(i).transpose());
    information.noalias() += row.transpose() * row;
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(information);
  const auto p = information.rows();
  if (factor.info() != Eigen::Success || !(factor.rcond() > 1e-9)) return std::nullopt;
  State state{std::move(design), factor.solve(Eigen::MatrixXd::Identity(p, p)), {}, 0};
  const double part = std::max(kLeastPart, std::exp(-kSpread / sharpness));
  state.peaks = problem_.finder.peaks(state.inverse, part, sharpness > 500 ? 1e-5 : 1e-2);
  if (state.peaks.value.size() == 0) return std::nullopt;
  const Eigen::ArrayXd height = state.peaks.value.array().log();
  state.smooth = height[0] + std::log((sharpness * (height - height[0])).exp().sum()) / sharpness;
  if (state.peaks.value[0] < best_) {
    best_ = state.peaks.value[0];
    best_design_ = state.design;
  }
  return state;
}

/// d ln d_j / d x_ic = -2 (f_i' V f_j) (f_ic' V f_j) / d_j: (n k) x m, run by run.
Eigen::MatrixXd MinimaxSearch::slopes() const {
  const SearchSpace& space = problem_.finder.space();
  const Eigen::Index n = state_->design.rows(), k = state_->design.cols();
  Eigen::MatrixXd vf(space.column_count(), state_->peaks.value.size());
  for (Eigen::Index j = 0; j < vf.cols(); ++j) {
    vf.col(j) = state_->inverse * space.row(state_->peaks.at.col(j)).transpose();
  }
  Eigen::MatrixXd result(n * k, vf.cols());
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::VectorXd x = state_->design.row(i).transpose();
    const Eigen::RowVectorXd covariance = space.row(x) * vf;
    result.middleRows(i * k, k) = -2 * (row_derivatives(space, x) * vf) *
                                  covariance.cwiseQuotient(state_->peaks.value.transpose()).asDiagonal();
  }
  return result;
}

Eigen::MatrixXd MinimaxSearch::moved(const Eigen::MatrixXd& slopes, const Eigen::VectorXd& weights,
                                     double sharpness) const {
  const Eigen::VectorXd gradient = slopes * weights;
  Eigen::MatrixXd root = (slopes.colwise() - gradient) * weights.cwiseSqrt().asDiagonal();
  Eigen::MatrixXd design = state_->design;
  const Eigen::Index k = design.cols();
  Eigen::VectorXd downhill = -gradient;
  for (Eigen::Index v = 0; v < gradient.size(); ++v) {
    const double x = design(v / k, v % k);
    const bool held = downhill[v] > 0 ? x > 1 - kEnds : x < -1 + kEnds;
    if (!held) continue;
    downhill[v] = 0;
    root.row(v).setZero();
  }
  Eigen::MatrixXd curvature = sharpness * root * root.transpose();
  curvature.diagonal().array() += damping_;
  const Eigen::VectorXd step = curvature.llt().solve(downhill);
  for (Eigen::Index i = 0; i < design.rows(); ++i) {
    const Eigen::RowVectorXd from = design.row(i);
    design.row(i) = (from + step.segment(i * k, k).transpose()).cwiseMax(-1).cwiseMin(1);
    const SearchSpace& space = problem_.finder.space();
    for (Eigen::Index c = 0; c < k; ++c) {
      if (space.coordinates()[c].kind != Coordinate::Kind::kContinuous) design(i, c) = from[c];
    }
    if (!space.is_box() && !space.allows(design.row(i).transpose())) design.row(i) = from;
  }
  return design;
}

bool MinimaxSearch::step(double sharpness) {
  const Eigen::ArrayXd height = state_->peaks.value.array().log();
  Eigen::VectorXd weights = (sharpness * (height - height[0])).exp();
  weights /= weights.sum();
  const Eigen::MatrixXd rates = slopes();
  for (; damping_ < kMostDamping && !stop_(); damping_ *= 5) {
    auto next = evaluate(moved(rates, weights, sharpness), sharpness);
    if (!next || !(next->smooth < state_->smooth - 1e-12)) continue;
    const double gained = state_->smooth - next->smooth;
    state_ = std::move(next);
    damping_ = std::max(damping_ / 5, kLeastDamping);
    return gained > 1e-2 / sharpness;
  }
  damping_ = 1;
  return false;
}

void MinimaxSearch::descend(double first, double factor, double last, int steps) {
  for (double sharpness = first; sharpness <= last * 1.0001; sharpness *= factor) {
    state_ = evaluate(best_design_, sharpness);
    if (!state_) return;
    for (int i = 0; i < steps && !stop_(); ++i) {
      if (!step(sharpness)) break;
    }
  }
}

}  // namespace doetune::doe
