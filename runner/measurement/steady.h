// Whether a series of measured values has become steady, and where its steady part begins.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::measurement {

/// A change of level that is this small, relative to the level, is none.
inline constexpr double kTolerance = 0.01;

/// What a series says of its own steadiness.
struct Steadiness {
  bool steady = false;
  std::size_t begin = 0;  ///< values before the steady part; where there is none: half of all
  double change = 0;      ///< of level within what was judged: 0.08 where it rose by 8 %
};

/// Judges a series while it is measured.
///
/// The values are held as means of m consecutive ones in at most 127 groups (m = 1 below 128
/// values), and groups count by their ranks: neither one value out of line nor long tails decide.
///
/// Where it begins: the d in the first half of the groups that minimises
/// sum_{i >= d} (r_i - mean of them)^2 / (n - d)^2, r the ranks (MSER: White 1997, Simulation 69,
/// 323; Hoad, Robinson & Davies 2010, J. Oper. Res. Soc. 61, 1389), if the first d differ from the
/// rest by more than 3.5 standard errors of the difference of mean ranks, their correlation counted
/// as that of a first-order autoregression. Leading groups that each lie 8 robust standard
/// deviations off (1.4826 median deviations each), and half as far again as any of the last half,
/// are left out in any case. A warm-up that was seen when m was smaller stays one, so that short
/// ones do not vanish in long series.
///
/// Whether it is steady from there on, each at about 1 % false alarms:
/// - its end does not differ from the rest: the same search and comparison, backwards (steps);
/// - no trend: Kendall's tau of some 18 means over time (Mann 1945, Econometrica 13, 245);
/// - neighbouring means are no more alike than others: von Neumann's ratio of their ranks (Bartels
///   1982, J. Amer. Statist. Assoc. 77, 40), which sees swings longer than a third of the series.
/// What they find counts only where medians differ by more than the tolerance.
///
/// Limits: below 20 values there is no validation. A change that is small against the noise of the
/// values that there are is not seen, nor one in the last 5 groups. Values that hang together over
/// a tenth of the series and more pass for a change; one random walk in five passes for steady.
/// tests/runner/test_steady.cpp has the rates of both errors.
class SteadyDetector {
 public:
  static constexpr std::size_t kMinValues = 20;

  explicit SteadyDetector(double tolerance = kTolerance);

  /// The next value, finite. Constant time on average, bounded memory.
  void add(double value);

  /// Empty below 20 values. Some microseconds, and nothing where no group is new.
  std::optional<Steadiness> assess() const;

 private:
  void merge_groups();

  double tolerance_;
  std::vector<double> groups_;  ///< means of group_size_ values each
  std::size_t group_size_ = 1;
  std::size_t in_last_ = 0;  ///< values of the group that is not full yet
  double last_sum_ = 0;
  std::size_t warmup_ = 0;                      ///< values of it, as seen in smaller groups
  mutable std::optional<Steadiness> assessed_;  ///< of the groups so far
};

/// The same of a whole series.
std::optional<Steadiness> assess(std::span<const double> values, double tolerance = kTolerance);

/// What keeps `count` values of a quantity from being steady, as a sentence; empty where nothing
/// does.
std::string unsteady_sentence(std::string_view name, const Steadiness& assessed, std::size_t count);

}  // namespace doetune::measurement
