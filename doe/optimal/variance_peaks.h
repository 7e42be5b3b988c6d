// Finds the local maxima of a design's prediction variance over a region.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "doe/optimal/search_space.h"

namespace doetune::doe {

/// The derivatives of the model's row f(x) (p) by the k coordinates, k x p; 0 for coordinates that
/// are not continuous.
Eigen::MatrixXd row_derivatives(const SearchSpace& space, const Eigen::VectorXd& x);

struct Peaks {
  Eigen::MatrixXd at;     ///< k x m: coordinates
  Eigen::VectorXd value;  ///< m: d there, descending
};

/// Finds the local maxima of d(x) = f(x)' V f(x) by climbing from the grid points that exceed their
/// neighbours: fast and nearly always complete, but without proof (max_variance has that). In a
/// quadratic model two numeric factors have nine levels each and up to six have five; more factors
/// have fewer levels and additional random points, as do regions with constraints.
class PeakFinder {
 public:
  /// For use by one thread; copies share the grid.
  explicit PeakFinder(const SearchSpace& space);

  const SearchSpace& space() const { return space_; }
  PeakFinder for_another_thread() const;

  /// The peaks of at least `part` (in 0 .. 1) of the highest; a climb ends when its steps are below
  /// `tolerance`, coded. If the grid may miss some, climbs also start at the `earlier` peaks of a
  /// similar V.
  Peaks peaks(const Eigen::MatrixXd& v, double part, double tolerance,
              const Eigen::MatrixXd& earlier = {}) const;

 private:
  struct Grid {
    Eigen::MatrixXd at;                        ///< k x m
    Eigen::MatrixXf rows;                      ///< p x m
    std::vector<std::vector<int>> neighbours;  ///< of the points on it
    Eigen::Index extra = 0;                    ///< index of the first random point
    bool fine = false;                         ///< every peak is close to a grid point
  };

  void add_neighbours(const std::vector<std::vector<double>>& levels);
  Eigen::VectorXf grid_values(const Eigen::MatrixXd& v) const;
  std::vector<Eigen::Index> seeds(const Eigen::VectorXf& values, double part) const;

  SearchSpace space_;
  std::shared_ptr<Grid> grid_;
};

}  // namespace doetune::doe
