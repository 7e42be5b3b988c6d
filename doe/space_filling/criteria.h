// Criteria of space-filling designs on the unit cube.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/factor.h"

namespace doetune::doe {

/// How a criterion interprets the values of a column.
enum class ColumnKind { kContinuous, kDiscrete, kNominal };

struct Column {
  ColumnKind kind = ColumnKind::kContinuous;
  int levels = 0;  ///< discrete and nominal: number of levels
};

/// Points of the unit cube, one per row.
struct UnitPoints {
  Eigen::MatrixXd x;
  std::vector<Column> columns;
};

/// The columns of a design with this many runs: a categorical factor is nominal; a numeric factor
/// with fewer usable settings than runs is discrete, since its settings must repeat.
std::vector<Column> unit_columns(const std::vector<Factor>& factors, int runs);

/// Coded points (n x k) mapped to the unit cube: a numeric factor to (c + 1) / 2, which preserves
/// log scales; level l of a categorical factor with L levels to (l + 1/2) / L.
UnitPoints unit_cube(const std::vector<Factor>& factors, const Eigen::MatrixXd& coded);

/// Squared distance of rows i and j: the sum over numeric columns of the squared difference, and
/// over nominal columns of 1 where the levels differ.
double squared_distance(const UnitPoints& points, int i, int j);

/// The smallest distance of two points, which maximin designs maximise; infinity for one point.
/// Source: Johnson, Moore & Ylvisaker (1990).
double min_distance(const UnitPoints& points);

/// phi_p = (sum_{i<j} d_ij^-p)^(1/p), close to 1 / min_distance for large p; infinity if points
/// coincide. Source: Morris & Mitchell (1995).
double phi_p(const UnitPoints& points, double p);

/// Centred L2 discrepancy of n x k points of the unit cube, small for uniform points:
///   CD2^2 = (13/12)^k - 2/n sum_i prod_l (1 + |z_il|/2 - z_il^2/2)
///           + 1/n^2 sum_i sum_j prod_l (1 + |z_il|/2 + |z_jl|/2 - |x_il - x_jl|/2),  z = x - 1/2.
/// Returns the root CD2. Source: Hickernell (1998), Math. Comp. 67, eq. 5.
double centered_l2(const Eigen::MatrixXd& x);

/// MaxPro criterion, small if every projection of the points is filled well:
///   psi = (1 / (n over 2) sum_{i<j} prod_l 1 / t_l(i, j))^(1/k)
///   continuous t = (x_i - x_j)^2;  discrete of m levels t = (|x_i - x_j| + 1/m)^2;
///   nominal of L levels t = ([x_i differs from x_j] + 1/L)^2.
/// Infinity where two points share the setting of a continuous column.
/// Source: Joseph, Gul & Ba (2015), Biometrika 102; mixed factors Joseph, Gul & Ba (2020), J.
/// Quality Technology 52.
double maxpro(const UnitPoints& points);

}  // namespace doetune::doe
