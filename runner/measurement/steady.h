// Detects warm-up and steady state in a series of measured values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::measurement {

/// Relative changes of level below this are ignored.
inline constexpr double kTolerance = 0.01;

/// Result of the steady-state test of a series.
struct Steadiness {
  bool steady = false;
  std::size_t begin = 0;  ///< values before the steady part; if there is none, half of all
  double change = 0;      ///< relative change of level in the part tested: 0.08 for a rise by 8 %
};

/// Tests a series for steady state while it is measured.
///
/// The values are stored as means of m consecutive ones in at most 127 groups (m = 1 below 128
/// values), and the tests use ranks of the groups, which makes them robust to outliers and long
/// tails.
///
/// Truncation point: the d in the first half of the groups that minimises sum_{i >= d} (r_i - their
/// mean)^2 / (n - d)^2, r the ranks (MSER: White 1997, Simulation 69, 323; Hoad, Robinson & Davies
/// 2010, J. Oper. Res. Soc. 61, 1389), if the first d differ from the rest by more than 3.5
/// standard errors of the difference of mean ranks, with the autocorrelation of a first-order
/// autoregression. Leading groups that each lie 8 robust standard deviations off (1.4826 median
/// deviations each), and half as far again as any of the last half, are omitted in any case. A
/// warm-up detected when m was smaller is kept, so that short ones do not vanish in long series.
///
/// The rest is steady if it passes these tests, each with about 1 % false alarms:
/// - its end does not differ from the rest: the same search and comparison, backwards (steps);
/// - no trend: Kendall's tau of some 18 means over time (Mann 1945, Econometrica 13, 245);
/// - no positive autocorrelation of these means: von Neumann's ratio of their ranks (Bartels
///   1982, J. Amer. Statist. Assoc. 77, 40), which detects swings longer than a third of it.
/// Findings count only if medians differ by more than the tolerance.
///
/// Limits: fewer than 20 values are not tested. Changes that are small relative to the noise, or in
/// the last 5 groups, are not detected. Autocorrelation over a tenth of the series or more is taken
/// for a change; one random walk in five passes as steady. Both error rates:
/// tests/runner/test_steady.cpp.
class SteadyDetector {
 public:
  static constexpr std::size_t kMinValues = 20;

  explicit SteadyDetector(double tolerance = kTolerance);

  /// Adds the next value, finite. Constant time on average, bounded memory.
  void add(double value);

  /// Empty below 20 values. Takes some microseconds, or none if there is no new group.
  std::optional<Steadiness> assess() const;

 private:
  void merge_groups();

  double tolerance_;
  std::vector<double> groups_;  ///< means of group_size_ values each
  std::size_t group_size_ = 1;
  std::size_t in_last_ = 0;  ///< number of values in the incomplete group
  double last_sum_ = 0;
  std::size_t warmup_ = 0;  ///< number of values in it, as found with smaller groups
  mutable std::optional<Steadiness> assessed_;  ///< cached result for the current groups
};

/// The same for a whole series.
std::optional<Steadiness> assess(std::span<const double> values, double tolerance = kTolerance);

/// Why `count` values of a quantity are not steady, as a sentence; empty if they are.
std::string unsteady_sentence(std::string_view name, const Steadiness& assessed, std::size_t count);

}  // namespace doetune::measurement
