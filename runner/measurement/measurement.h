// Sequential measurement that stops when it is steady and precise enough.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "runner/measurement/steady.h"

namespace doetune::measurement {

/// When to stop measuring. Times are in seconds.
struct StoppingRule {
  std::optional<double> precision = {};  ///< required half-width of the 95 % interval of the mean,
                                         ///< relative to it; also the tolerance for changes of
                                         ///< level
  std::vector<double> quantiles = {};    ///< that the number of values must support, see quantile.h
  double min_s = 0;                      ///< minimum duration of the part used
  std::size_t min_count = 1;             ///< minimum number of values used
  std::optional<double> max_s = {};      ///< maximum duration from the start, overrides the other
                                         ///< criteria
  std::optional<double> deadline_s = {};  ///< time that must not be passed
  bool may_be_empty = false;              ///< look_at_deadline ends it without a value, too

  /// Whether the values decide how long to measure. Otherwise only the minimum time and count
  /// matter, all values are used, and steadiness is only reported.
  bool adaptive() const { return precision || max_s; }
};

enum class StoppedBy {
  kPrecision,  ///< steady, with the required precision
  kMinTime,    ///< the minimum time and count, if no precision is required
  kMaxTime,
  kTimeLimit,  ///< another value of the last duration would miss the deadline
};

/// "precision reached", "minimum time reached", "max_time", "time limit".
std::string_view stopped_by_name(StoppedBy by);

/// Values of one kind, such as the times of micro-batches, during their measurement:
///
///   Measurement measurement(rule, now());
///   while (!measurement.stopped_by()) measurement.add(measure(), now());
///
/// If the rule is adaptive, the steady part of the values is used; if none is found, the last half.
/// Precision is checked whenever the number of values has grown by a tenth, and must be reached
/// twice in a row and still hold when the measurement stops, since stopping at the first interval
/// that happens to be short would reduce its coverage (Law & Kelton 1984, Oper. Res. 32, 169;
/// remaining error: tests/runner/test_measurement.cpp). For the same reason an adaptive measurement
/// ends only when it has been steady over the last fifth of its values and uses at least 20.
class Measurement {
 public:
  /// `start_s` and all other times are of the same clock.
  Measurement(StoppingRule rule, double start_s);

  /// Adds the next value, finite, completed at `now_s`.
  void add(double value, double now_s);

  /// Stops the measurement if the deadline has passed without a further value. There must be one,
  /// unless the rule says otherwise.
  void look_at_deadline(double now_s);

  /// Why to stop; empty to continue.
  std::optional<StoppedBy> stopped_by() const { return stopped_by_; }

  /// Whether the part used is steady; empty if there are too few values.
  std::optional<bool> steady() const;

  /// Steadiness of all values.
  std::optional<Steadiness> steadiness() const { return detector_.assess(); }

  /// Start of the part used, as a number of values and as a time, and its end.
  std::size_t begin() const;
  double begin_s() const;
  double end_s() const;

 private:
  std::optional<StoppedBy> assess() const;
  bool is_complete() const;
  bool is_precise() const;
  void look_at_precision();

  StoppingRule rule_;
  double start_s_;
  std::size_t min_count_;      ///< that of the rule, or more if quantiles need it
  std::size_t unsteady_ = 0;   ///< number of values when it was last not steady
  std::size_t next_look_ = 0;  ///< number of values at the next check of precision
  int precise_looks_ = 0;      ///< consecutive checks that were precise
  SteadyDetector detector_;
  std::vector<double> values_;
  std::vector<double> ends_s_;
  std::optional<StoppedBy> stopped_by_;
};

}  // namespace doetune::measurement
