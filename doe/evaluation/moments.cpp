#include "doe/evaluation/moments.h"

#include <algorithm>
#include <cmath>

#include "doe/design.h"
#include "doe/evaluation/region_sample.h"

namespace doetune::doe {
namespace {

constexpr int kMomentPoints = 1 << 16;
constexpr double kMomentWork = 2e10;  ///< multiplications: fewer points above 550 columns
constexpr int kRowsAtOnce = 1 << 10;

/// The factor's part in a column: its power, or 1 + its contrast; 0: not in the column.
int part(const Model& model, const ModelColumn& column, std::size_t f) {
  return column.contrasts[f] >= 0 ? 1 + column.contrasts[f] : model.terms()[column.term].powers[f];
}

/// Mean of x^power over the settings, or over [-1, 1] if there are none.
double power_mean(int power, const std::vector<double>& settings) {
  if (settings.empty()) return power % 2 == 1 ? 0 : 1.0 / (power + 1);
  double sum = 0;
  for (const double x : settings) sum += std::pow(x, power);
  return sum / static_cast<double>(settings.size());
}

/// Means of products of two powers, each 0 .. highest.
Eigen::MatrixXd power_means(const Factor& factor, int highest) {
  const std::vector<double> settings = coded_settings(factor);
  Eigen::MatrixXd means(highest + 1, highest + 1);
  for (int sum = 0; sum <= 2 * highest; ++sum) {
    const double mean = power_mean(sum, settings);
    for (int i = std::max(0, sum - highest); i <= std::min(sum, highest); ++i) {
      means(i, sum - i) = mean;
    }
  }
  return means;
}

/// Means over L levels of products of two of: 1 and the L - 1 sum-to-zero contrasts.
Eigen::MatrixXd contrast_means(std::size_t level_count) {
  const auto levels = static_cast<Eigen::Index>(level_count);
  Eigen::MatrixXd z(levels, levels);
  z.col(0).setOnes();
  z.rightCols(levels - 1).topRows(levels - 1).setIdentity();
  z.rightCols(levels - 1).bottomRows(1).setConstant(-1);
  return z.transpose() * z / static_cast<double>(levels);
}

Eigen::MatrixXd box_moments(const Model& model) {
  const int p = model.column_count();
  Eigen::MatrixXd moments = Eigen::MatrixXd::Ones(p, p);
  for (std::size_t f = 0; f < model.factors().size(); ++f) {
    const Factor& factor = model.factors()[f];
    std::vector<int> parts;
    for (const ModelColumn& column : model.columns()) parts.push_back(part(model, column, f));
    const int highest = parts.empty() ? 0 : *std::max_element(parts.begin(), parts.end());
    const Eigen::MatrixXd means = factor.is_categorical()
                                      ? contrast_means(factor.level_names.size())
                                      : power_means(factor, highest);
    for (int j = 0; j < p; ++j) {
      for (int i = 0; i < p; ++i) moments(i, j) *= means(parts[i], parts[j]);
    }
  }
  return moments;
}

}  // namespace

Eigen::MatrixXd moment_matrix(const Model& model, const Region& region) {
  if (region.is_box()) return box_moments(model);
  const double columns = model.column_count();
  const int count = static_cast<int>(
      std::min<double>(std::max(kMomentWork / (columns * columns), 4 * columns), kMomentPoints));
  const Eigen::MatrixXd points = region_sample(model.factors(), region, count);
  if (points.rows() == 0) throw DesignError("the constraints exclude the whole region");
  Eigen::MatrixXd moments = Eigen::MatrixXd::Zero(model.column_count(), model.column_count());
  for (Eigen::Index first = 0; first < points.rows(); first += kRowsAtOnce) {
    const Eigen::Index rows = std::min<Eigen::Index>(kRowsAtOnce, points.rows() - first);
    const Eigen::MatrixXd x = model.matrix(points.middleRows(first, rows));
    moments += x.transpose() * x;
  }
  return moments / static_cast<double>(points.rows());
}

}  // namespace doetune::doe
