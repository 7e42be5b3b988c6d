#include "doe/space_filling/pair_energy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace doetune::doe {
namespace {

constexpr int kDistancePower = 16;  // of 1 / d^2: p = 32
constexpr double kMeanSquare = 1.0 / 6.0;
constexpr double kCancelled = 1e-4;  // fraction of a sum

}  // namespace

PairEnergy::PairEnergy(SpaceFillingCriterion criterion, UnitPoints points, int fixed)
    : criterion_(criterion), points_(std::move(points)), fixed_(fixed) {
  const double n = static_cast<double>(points_.x.rows());
  floor_ = 1 / (16 * n * n);
  refresh();
}

void PairEnergy::refresh() {
  const Eigen::Index n = points_.x.rows();
  terms_ = Eigen::ArrayXXd::Constant(n, n, criterion_ == SpaceFillingCriterion::kMaximin ? 0 : 1);
  for (int i = 0; i < n; ++i) {
    for (int c = 0; c < points_.x.cols(); ++c) {
      const Eigen::ArrayXd column = column_terms(c, points_.x(i, c));
      if (criterion_ == SpaceFillingCriterion::kMaximin) {
        terms_.col(i) += column;
      } else {
        terms_.col(i) *= column;
      }
    }
  }
  total_ = sum();
}

double PairEnergy::sum() const {
  const Eigen::Index n = points_.x.rows();
  double total = 0;
  for (int i = 0; i < n; ++i) total += energies(i, terms_.col(i)) / 2 + self_energy(i);
  if (criterion_ != SpaceFillingCriterion::kCenteredL2) return total;
  return total +
         static_cast<double>(n * n) * std::pow(13.0 / 12.0, static_cast<double>(points_.x.cols()));
}

/// The terms of a setting in a column with the settings of all rows in that column.
Eigen::ArrayXd PairEnergy::column_terms(int column, double setting) const {
  const Eigen::ArrayXd apart = (points_.x.col(column).array() - setting).abs();
  const Column& kind = points_.columns[column];
  const bool nominal = kind.kind == ColumnKind::kNominal;
  const auto differs = (apart > 0).cast<double>();
  switch (criterion_) {
    case SpaceFillingCriterion::kMaximin:
      if (nominal) return differs;
      return apart.square();
    case SpaceFillingCriterion::kMaxPro:
      if (nominal) return kMeanSquare / (differs + 1.0 / kind.levels).square();
      if (kind.kind == ColumnKind::kDiscrete) {
        return kMeanSquare / (apart + 1.0 / kind.levels).square();
      }
      return kMeanSquare / apart.square().max(floor_);
    case SpaceFillingCriterion::kCenteredL2:
      break;
  }
  const Eigen::ArrayXd z = (points_.x.col(column).array() - 0.5).abs();
  return 1 + (std::abs(setting - 0.5) + z - apart) / 2;
}

/// The terms of a row with all others after a change of its setting in a column.
void PairEnergy::moved_terms(int row, int column, double setting, Eigen::ArrayXd& terms) const {
  const Eigen::ArrayXd before = column_terms(column, points_.x(row, column));
  const Eigen::ArrayXd after = column_terms(column, setting);
  if (criterion_ == SpaceFillingCriterion::kMaximin) {
    terms = (terms_.col(row) + (after - before)).max(0);
  } else {
    terms = terms_.col(row) * (after / before);
  }
}

/// The contribution of a row's pairs to the total. For the discrepancy each pair counts twice.
double PairEnergy::energies(int row, const Eigen::Ref<const Eigen::ArrayXd>& terms) const {
  const Eigen::Index n = terms.size();
  const double weight = criterion_ == SpaceFillingCriterion::kCenteredL2 ? 2 : 1;
  // Pairs of fixed rows do not count, except in a discrepancy.
  const Eigen::Index first =
      row < fixed_ && criterion_ != SpaceFillingCriterion::kCenteredL2 ? fixed_ : 0;
  const auto sum = [&](Eigen::Index from, Eigen::Index to) {
    const auto part = terms.segment(from, to - from);
    if (criterion_ != SpaceFillingCriterion::kMaximin) return part.sum();
    Eigen::ArrayXd power = 1 / part.max(floor_);
    for (int p = 1; p < kDistancePower; p *= 2) power = power.square().eval();
    return power.sum();
  };
  if (first > row) return weight * sum(first, n);
  return weight * (sum(first, row) + sum(row + 1, n));
}

/// The contribution of a single point (centred L2).
double PairEnergy::self_energy(int row) const {
  if (criterion_ != SpaceFillingCriterion::kCenteredL2) return 0;
  const auto z = (points_.x.row(row).array() - 0.5).abs();
  const auto n = static_cast<double>(points_.x.rows());
  return (1 + z).prod() - 2 * n * (1 + z / 2 - z.square() / 2).prod();
}

double PairEnergy::value_of(double total) const {
  total = std::max(total, std::numeric_limits<double>::min());
  switch (criterion_) {
    case SpaceFillingCriterion::kMaximin:
      return std::log(total) / (2 * kDistancePower);
    case SpaceFillingCriterion::kMaxPro:
      return std::log(total) / static_cast<double>(2 * points_.x.cols());
    case SpaceFillingCriterion::kCenteredL2:
      break;
  }
  return std::log(total) / 2;
}

double PairEnergy::criterion() const {
  const auto n = static_cast<double>(points_.x.rows());
  if (criterion_ == SpaceFillingCriterion::kCenteredL2) return std::sqrt(total_) / n;
  if (criterion_ == SpaceFillingCriterion::kMaximin) {
    double least = std::numeric_limits<double>::infinity();
    for (int i = fixed_; i < points_.x.rows(); ++i) {
      for (int j = 0; j < i; ++j) least = std::min(least, terms_(i, j));
    }
    return std::sqrt(least);
  }
  const double pairs = (n * (n - 1) - fixed_ * (fixed_ - 1.0)) / 2;
  const auto k = static_cast<double>(points_.x.cols());
  return std::pow(total_ / pairs, 1 / k) / kMeanSquare;
}

double PairEnergy::value_after(const PointMove& move) {
  move_ = move;
  const auto self_with = [&](int row, double setting) {
    const double before = std::exchange(points_.x(row, move.column), setting);
    const double energy = self_energy(row);
    points_.x(row, move.column) = before;
    return energy - self_energy(row);
  };
  total_after_ = total_ + self_with(move.row, move.setting);
  moved_terms(move.row, move.column, move.setting, row_terms_);
  if (move.partner >= 0) {
    moved_terms(move.partner, move.column, move.partner_setting, partner_terms_);
    // The two points swap settings: the term between them does not change.
    row_terms_[move.partner] = terms_(move.partner, move.row);
    partner_terms_[move.row] = terms_(move.row, move.partner);
    total_after_ += self_with(move.partner, move.partner_setting) +
                    energies(move.partner, partner_terms_) -
                    energies(move.partner, terms_.col(move.partner));
  }
  total_after_ += energies(move.row, row_terms_) - energies(move.row, terms_.col(move.row));
  return value_of(total_after_);
}

void PairEnergy::accept() {
  const auto place = [&](int row, double setting, const Eigen::ArrayXd& terms) {
    points_.x(row, move_.column) = setting;
    const double self = terms_(row, row);
    terms_.col(row) = terms;
    terms_.row(row) = terms.transpose();
    terms_(row, row) = self;
  };
  place(move_.row, move_.setting, row_terms_);
  if (move_.partner >= 0) place(move_.partner, move_.partner_setting, partner_terms_);
  // The difference of two large sums has lost its precision: recompute.
  total_ = total_after_ < kCancelled * total_ ? sum() : total_after_;
}

}  // namespace doetune::doe
