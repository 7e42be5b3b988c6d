// The largest load that keeps limits, from few measurements.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "doe/factor.h"

namespace doetune::runner {

/// What was measured at a load.
struct LoadProbe {
  double load = 0;
  double excess = 0;        ///< by how much the most exceeded limit is exceeded, relative to it; at
                            ///< most 0: all are kept; infinite: it could not be measured
  double half_width = 0;    ///< of the 95 % interval of `excess`; 0 where unknown
  bool superseded = false;  ///< measured once more
  bool kept() const { return excess <= 0; }
};

/// Searches the largest setting of a numeric factor (low > 0) at which limits are kept, where a
/// larger load never helps to keep them:
///
///   LargestLoad search(factor);
///   while (const auto load = search.next()) search.add(measure(*load));
///
/// It begins at the baseline, or the lowest setting, and multiplies or divides by 4 until the
/// answer is bracketed. Then it interpolates log(load) linearly in the excess (capped at 1, since
/// queues grow without bound), but leaves at least a fifth of the bracket on both sides, so that
/// each call reduces it by a fifth or more (bracketing methods: Press et al., Numerical Recipes,
/// section 9.2). It ends when the ends of the bracket differ by 5 %, or are adjacent settings of a
/// factor with levels, a step or integers. If the limits are then kept by a wide margin at the
/// lower end, the upper end is measured once more, so that a single disturbed measurement does not
/// bound the answer.
class LargestLoad {
 public:
  static constexpr double kResolution = 0.05;

  explicit LargestLoad(const doe::Factor& factor);

  /// The load to measure next; empty once the answer is known.
  std::optional<double> next() const;
  void add(const LoadProbe& probe);

  /// In the order in which they were measured.
  const std::vector<LoadProbe>& probes() const { return probes_; }

  /// The largest load that kept the limits, and the smallest that did not; null if there is none.
  const LoadProbe* kept() const;
  const LoadProbe* exceeded() const;

  /// The answer's interval: where the upper and the lower ends of the intervals of the excess,
  /// interpolated like the search, cross 0; the bracket at least. No upper end: the answer may be
  /// above the range. Where probes have 95 % intervals, so has the answer, nearly: 93 to 100 % in
  /// simulations with errors up to 10 % (tests/runner/test_largest_load.cpp).
  std::pair<double, std::optional<double>> interval() const;

 private:
  double usable(double load) const;
  std::optional<double> inside(const LoadProbe& kept, const LoadProbe& exceeded) const;

  doe::Factor factor_;
  std::vector<double> settings_;  ///< the usable ones; empty: any
  std::vector<LoadProbe> probes_;
};

}  // namespace doetune::runner
