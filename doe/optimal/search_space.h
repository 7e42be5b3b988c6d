// The search space of a design, and how model columns depend on its coordinates.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "base/random.h"
#include "doe/design.h"

namespace doetune::doe {

constexpr int kMaxFeatures = 32;  ///< of one coordinate: levels of a categorical factor less one

/// One factor of a search, or the block of a run, which the search does not change.
///
/// A column of the model matrix is a product of features of its coordinates: powers x, x^2, ... of
/// a numeric factor, sum-to-zero contrasts of a categorical one.
struct Coordinate {
  enum class Kind { kContinuous, kLevels, kCategorical, kFixed };
  Kind kind = Kind::kContinuous;
  std::vector<double> values;  ///< coded: all allowed values; empty for kContinuous
  int features = 0;            ///< number of features that columns use
  bool categorical = false;    ///< features are contrasts, not powers
  int first_slot = 0;          ///< index of its first feature among those of all coordinates
  std::vector<std::vector<int>> columns;              ///< per feature: the columns that contain it
  std::vector<std::vector<std::vector<int>>> others;  ///< the slots of each column's other features

  /// Feature a of a coded value: value^(a + 1), or contrast a of a level.
  double feature(int a, double value) const;
};

/// Continuous factors vary freely in [-1, 1]; a factor with few usable settings takes only those.
class SearchSpace {
 public:
  /// The factors of the request and, with blocks, one fixed coordinate whose contrasts are columns
  /// after the model's. Throws DesignError for a power above kMaxPower, and for a region in which
  /// no settings are found.
  explicit SearchSpace(const DesignRequest& request);

  int factor_count() const { return static_cast<int>(factors_.size()); }
  int coordinate_count() const { return static_cast<int>(coordinates_.size()); }
  int column_count() const { return static_cast<int>(columns_.size()); }
  const std::vector<Coordinate>& coordinates() const { return coordinates_; }
  int slot_count() const { return slot_count_; }

  /// The slots of the features whose product is column c.
  const std::vector<int>& column(int c) const { return columns_[c]; }

  bool is_box() const { return region_.is_box(); }

  /// Whether the usable settings nearest to the coded ones are allowed.
  bool allows(const Eigen::Ref<const Eigen::VectorXd>& coded) const;

  /// The usable settings nearest to the coded ones, coded.
  Eigen::VectorXd usable(const Eigen::Ref<const Eigen::VectorXd>& coded) const;

  /// The usable settings adjacent to a usable one of a continuous factor, coded: up to two.
  std::vector<double> next_usable(int factor, double coded) const;

  /// The features of all coordinates at the given values, by slot.
  Eigen::VectorXd features(const Eigen::Ref<const Eigen::VectorXd>& coordinates) const;

  /// The row of the model matrix at the given coordinates.
  Eigen::RowVectorXd row(const Eigen::Ref<const Eigen::VectorXd>& coordinates) const;

  /// Random allowed settings, uniform over the region; the block entry is unchanged.
  void randomise(Eigen::Ref<Eigen::VectorXd> coordinates, RandomStream& random) const;

  /// `runs` rows of random allowed settings; block entries are 0.
  Eigen::MatrixXd random_design(int runs, RandomStream& random) const;

  /// A copy with its own constraint expressions, for use in another thread.
  SearchSpace for_another_thread() const;

 private:
  void count_features(const Model& model);
  void add_block(int blocks);
  void add_columns(const Model& model);
  void check_region();

  std::vector<Factor> factors_;
  Region region_;
  std::vector<Coordinate> coordinates_;
  std::vector<std::vector<int>> columns_;
  int slot_count_ = 0;
};

}  // namespace doetune::doe
