// How well points fill the unit cube.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "doe/factor.h"

namespace doetune::doe {

/// What the numbers of a column mean to a criterion.
enum class ColumnKind { kContinuous, kDiscrete, kNominal };

struct Column {
  ColumnKind kind = ColumnKind::kContinuous;
  int levels = 0;  ///< discrete and nominal: how many there are
};

/// Points of the unit cube, one a row.
struct UnitPoints {
  Eigen::MatrixXd x;
  std::vector<Column> columns;
};

/// How a criterion takes the factors in a design of so many runs: a categorical factor is nominal;
/// a numeric factor with fewer usable settings than runs is discrete, as its settings must repeat.
std::vector<Column> unit_columns(const std::vector<Factor>& factors, int runs);

/// Coded points (n x k) in the unit cube: a numeric factor is (c + 1) / 2, so log scales are kept;
/// level l of a categorical factor with L levels is (l + 1/2) / L.
UnitPoints unit_cube(const std::vector<Factor>& factors, const Eigen::MatrixXd& coded);

/// Squared distance of rows i and j: the sum over numeric columns of the squared difference, and
/// over nominal columns of 1 where the levels differ.
double squared_distance(const UnitPoints& points, int i, int j);

/// The smallest distance of two points, what a maximin design makes large; infinity for one point.
/// Source: Johnson, Moore & Ylvisaker (1990).
double min_distance(const UnitPoints& points);

/// phi_p = (sum_{i<j} d_ij^-p)^(1/p), near 1 / min_distance for large p; infinity where points
/// repeat. Source: Morris & Mitchell (1995).
double phi_p(const UnitPoints& points, double p);

/// Centred L2 discrepancy of n x k points of the unit cube, small for uniform points:
///   CD2^2 = (13/12)^k - 2/n sum_i prod_l (1 + |z_il|/2 - z_il^2/2)
///           + 1/n^2 sum_i sum_j prod_l (1 + |z_il|/2 + |z_jl|/2 - |x_il - x_jl|/2),  z = x - 1/2.
/// The root CD2 is returned. Source: Hickernell (1998), Math. Comp. 67, eq. 5.
double centered_l2(const Eigen::MatrixXd& x);

/// MaxPro criterion, small where every projection of the points is filled well:
///   psi = (1 / (n over 2) sum_{i<j} prod_l 1 / t_l(i, j))^(1/k)
///   continuous t = (x_i - x_j)^2;  discrete of m levels t = (|x_i - x_j| + 1/m)^2;
///   nominal of L levels t = ([x_i differs from x_j] + 1/L)^2.
/// Infinity where two points share the setting of a continuous column.
/// Source: Joseph, Gul & Ba (2015), Biometrika 102; mixed factors Joseph, Gul & Ba (2020), J.
/// Quality Technology 52.
double maxpro(const UnitPoints& points);

}  // namespace doetune::doe
