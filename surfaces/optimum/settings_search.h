// Enumeration of usable settings, and local search among them.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "doe/factor.h"
#include "doe/region.h"

namespace doetune::surfaces {

using Settings = std::vector<double>;

/// The usable settings of each factor, ascending; a single one if it is held.
std::vector<Settings> usable_choices(const std::vector<doe::Factor>& factors,
                                     const std::map<std::string, double>& hold);

/// Each factor at any of its usable settings, all equally likely.
Settings random_settings(const std::vector<Settings>& choices, RandomStream& random);

/// Some of the points of a search.
struct Block {
  Eigen::MatrixXd natural;  ///< one point per row
  Eigen::MatrixXd coded;

  Eigen::Index size() const { return natural.rows(); }
  Settings settings(Eigen::Index point) const;
};

/// The usable settings of all factors, without those that the region forbids, in blocks of up to
/// kBlockPoints, to avoid per-point overhead in memory and time.
///
/// Up to `most` usable settings are all points of the search. Beyond that: a grid of up to `coarse`
/// points with at least both ends of every factor (unless there are more ends than that), and 2,000
/// random points, the same at every call.
class SettingsSearch {
 public:
  static constexpr std::size_t kBlockPoints = 256;

  /// All of these settings that the region allows; no others.
  SettingsSearch(const std::vector<doe::Factor>& factors, const doe::Region& region,
                 const std::vector<Settings>& only);

  /// `hold` fixes factors at a natural setting.
  SettingsSearch(const std::vector<doe::Factor>& factors, const doe::Region& region,
                 const std::map<std::string, double>& hold, std::size_t most,
                 std::size_t coarse = 200'000);

  bool is_exhaustive() const { return exhaustive_; }
  std::size_t block_count() const;

  /// The points of a block that `region` allows: the search's own region, or a thread's copy.
  Block block(std::size_t index, const doe::Region& region) const;

  /// Calls body(index, block) for every listed block, or all blocks, concurrently on `threads`
  /// threads (0: all hardware threads), so body must keep results apart by index.
  using Body = std::function<void(std::size_t, const Block&)>;
  void for_each(const std::vector<std::size_t>& blocks, int threads, const Body& body) const;
  void for_each(int threads, const Body& body) const;

  /// All points in one block; for small searches.
  Block all_points() const;

  /// The index of a trial that is better than all earlier ones it was asked about, if any.
  using Choose = std::function<std::optional<Eigen::Index>(const Block& trials)>;

  /// Moves one factor at a time to its best setting; when that no longer helps, two factors at a
  /// time among neighbouring settings, so that a diagonal ridge does not stop it. Ends when nothing
  /// helps or `evaluations`, which is counted down, reaches 0.
  Settings improved(Settings start, const Choose& choose, long& evaluations) const;

  const std::vector<Settings>& choices() const { return choices_; }

 private:
  Block allowed(Eigen::MatrixXd natural, const doe::Region& region) const;
  Block grid_block(std::size_t index, const doe::Region& region) const;
  void draw_random_points();
  bool move(Settings& settings, Eigen::MatrixXd trials, const Choose& choose,
            long& evaluations) const;
  bool move_one_factor(Settings& settings, const Choose& choose, long& evaluations) const;
  bool move_pair(Settings& settings, std::size_t f, std::size_t g, bool far, const Choose& choose,
                 long& evaluations) const;
  bool move_two_factors(Settings& settings, const Choose& choose, long& evaluations) const;

  std::vector<doe::Factor> factors_;
  doe::Region region_;
  std::vector<Settings> choices_;
  bool exhaustive_ = true;
  std::vector<Settings> grid_;          ///< per factor: all choices, or some of them
  std::vector<Eigen::VectorXd> coded_;  ///< the grid settings, coded
  std::size_t grid_points_ = 0;
  Eigen::MatrixXd listed_points_;  ///< natural: random ones, or all that there are
};

}  // namespace doetune::surfaces
