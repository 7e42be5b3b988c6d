// Correlation function of a Gaussian process.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/factor.h"

namespace doetune::surfaces {

/// The correlation of two coded points x and x',
///
///   r(x, x') = (1 + s + s^2 / 3) exp(-s) prod_c rho_c^[x_c != x'_c] + h [x = x'],
///   s^2 = 5 sum_k ((x_k - x'_k) / l_k)^2
///
/// with k over the numeric factors: Matern correlation of smoothness 5/2 with a length scale l_k
/// per factor; c over the categorical ones: any two levels have correlation rho_c in (0, 1), the
/// exchangeable correlation, positive definite for any number of levels; h, the nugget:
/// variation that neighbours do not share and replicates reproduce, so that r(x, x) = 1 + h.
/// Sources: Rasmussen & Williams (2006), Gaussian Processes for Machine Learning, eq. 4.17; Qian,
/// Wu & Wu (2008), Technometrics 50, 383.
///
/// One unbounded parameter per factor: ln l_k, or ln(-ln rho_c).
class Correlation {
 public:
  using Points = Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;  ///< one per row
  using Point = Eigen::Ref<const Eigen::VectorXd>;

  Correlation() = default;
  Correlation(const std::vector<doe::Factor>& factors, const Eigen::VectorXd& log_parameters,
              double nugget = 0);

  /// r(points[i], point); `points` is m x k, one point per row.
  Eigen::ArrayXd with(const Points& points, const Point& point) const;

  /// r(points[i], others[j]), one column for each of the others.
  Eigen::MatrixXd matrix(const Eigen::MatrixXd& points, const Eigen::MatrixXd& others) const;

  /// m x m: r(points[i], points[j]).
  Eigen::MatrixXd matrix(const Eigen::MatrixXd& points) const;

  /// sum_ij weights_ij dR_ij / d log_parameter for every parameter, R = matrix(points); both m x m
  /// and symmetric.
  Eigen::VectorXd gradient(const Eigen::MatrixXd& points, const Eigen::MatrixXd& correlations,
                           const Eigen::MatrixXd& weights) const;

  /// The same without the nugget.
  Correlation smooth() const;

 private:
  /// What is computed for a column of a matrix, one number for each point.
  struct Column {
    Eigen::ArrayXd s, exponent;
  };

  /// Sets column.s to the distances s of points to one point.
  void set_distances(const Points& points, const Point& point, Column& column) const;

  /// Writes r(points[i], point).
  void write(const Points& points, const Point& point, Column& column,
             Eigen::Ref<Eigen::ArrayXd> r) const;

  std::vector<int> numeric_, categorical_;
  Eigen::VectorXd rates_;  ///< 5 / l_k^2, and -ln rho_c
  double nugget_ = 0;
};

}  // namespace doetune::surfaces
