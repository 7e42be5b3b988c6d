// Where in a region the prediction variance of a design has its local maxima.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "doe/optimal/search_space.h"

namespace doetune::doe {

/// The k derivatives of the model's row f(x) (p) to the continuous coordinates; 0 for others: k x
/// p.
Eigen::MatrixXd row_derivatives(const SearchSpace& space, const Eigen::VectorXd& x);

struct Peaks {
  Eigen::MatrixXd at;     ///< k x m: coordinates
  Eigen::VectorXd value;  ///< m: d there, descending
};

/// Finds the local maxima of d(x) = f(x)' V f(x) by climbing from the points of a grid that exceed
/// their neighbours: quick and nearly always complete, but without proof (max_variance has that).
/// Two numbers of a quadratic model have nine levels each, up to six five; more factors have
/// fewer, and random points beside them, as have regions with constraints.
class PeakFinder {
 public:
  /// Serves one thread; copies share the grid.
  explicit PeakFinder(const SearchSpace& space);

  const SearchSpace& space() const { return space_; }
  PeakFinder for_another_thread() const;

  /// The peaks of at least `part` (in 0 .. 1) of the highest; a climb ends when its steps are below
  /// `tolerance`, coded. Where the grid may miss some, climbs start at the `earlier` peaks of a
  /// similar V too.
  Peaks peaks(const Eigen::MatrixXd& v, double part, double tolerance,
              const Eigen::MatrixXd& earlier = {}) const;

 private:
  struct Grid {
    Eigen::MatrixXd at;                        ///< k x m
    Eigen::MatrixXf rows;                      ///< p x m
    std::vector<std::vector<int>> neighbours;  ///< of the points on it
    Eigen::Index extra = 0;                    ///< from here on: random points
    bool fine = false;                         ///< no peak is far from a point
  };

  void add_neighbours(const std::vector<std::vector<double>>& levels);
  Eigen::VectorXf grid_values(const Eigen::MatrixXd& v) const;
  std::vector<Eigen::Index> seeds(const Eigen::VectorXf& values, double part) const;

  SearchSpace space_;
  std::shared_ptr<Grid> grid_;
};

}  // namespace doetune::doe
