// What a search for a design may change, and how the model's columns depend on it.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "base/random.h"
#include "doe/design.h"

namespace doetune::doe {

constexpr int kMaxFeatures = 32;  ///< of one coordinate: the levels of a word, less one

/// One factor of a search, or the block of a run, which the search leaves alone.
///
/// A column of the model matrix is a product of features of its coordinates: the powers
/// x, x^2, ... of a number, the sum-to-zero contrasts of a categorical level.
struct Coordinate {
  enum class Kind { kContinuous, kLevels, kCategorical, kFixed };
  Kind kind = Kind::kContinuous;
  std::vector<double> values;             ///< coded: all allowed ones; empty for kContinuous
  int features = 0;                       ///< how many features columns use
  bool categorical = false;               ///< features are contrasts, not powers
  int first_slot = 0;                     ///< of its features among those of all coordinates
  std::vector<std::vector<int>> columns;  ///< per feature: the columns that contain it
  std::vector<std::vector<std::vector<int>>> others;  ///< and the slots of each one's other parts

  /// Feature a of a coded value: value^(a + 1), or contrast a of a level.
  double feature(int a, double value) const;
};

/// Continuous factors move freely in [-1, 1]; a factor of few usable settings takes those alone.
class SearchSpace {
 public:
  /// The factors of the request, and with blocks a fixed coordinate more whose contrasts are
  /// columns after the model's. Throws DesignError for a power above kMaxPower, and a region in
  /// which no settings are found.
  explicit SearchSpace(const DesignRequest& request);

  int factor_count() const { return static_cast<int>(factors_.size()); }
  int coordinate_count() const { return static_cast<int>(coordinates_.size()); }
  int column_count() const { return static_cast<int>(columns_.size()); }
  const std::vector<Coordinate>& coordinates() const { return coordinates_; }
  int slot_count() const { return slot_count_; }

  /// The slots of the features whose product is column c.
  const std::vector<int>& column(int c) const { return columns_[c]; }

  bool is_box() const { return region_.is_box(); }

  /// Whether the usable settings nearest to coded ones are allowed.
  bool allows(const Eigen::Ref<const Eigen::VectorXd>& coded) const;

  /// The usable settings nearest to coded ones, coded.
  Eigen::VectorXd usable(const Eigen::Ref<const Eigen::VectorXd>& coded) const;

  /// The usable settings of a continuous factor next to one of its own, coded: up to two.
  std::vector<double> next_usable(int factor, double coded) const;

  /// The features of every coordinate at a value of each, by slot.
  Eigen::VectorXd features(const Eigen::Ref<const Eigen::VectorXd>& coordinates) const;

  /// The row of the model matrix at a value of every coordinate.
  Eigen::RowVectorXd row(const Eigen::Ref<const Eigen::VectorXd>& coordinates) const;

  /// Random allowed settings, uniform over the region; a block's entry is not touched.
  void randomise(Eigen::Ref<Eigen::VectorXd> coordinates, RandomStream& random) const;

  /// So many rows of random allowed settings; a block's entries are 0.
  Eigen::MatrixXd random_design(int runs, RandomStream& random) const;

  /// The same space with constraints of its own, for another thread.
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
