// A measurement that goes on until it is good enough.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "runner/measurement/steady.h"

namespace doetune::measurement {

/// When to stop measuring. Times are seconds.
struct StoppingRule {
  std::optional<double> precision = {};   ///< wanted half-width of the 95 % interval of the mean,
                                          ///< relative to it; a change that small is none
  std::vector<double> quantiles = {};     ///< to be supported, see quantile.h
  double min_s = 0;                       ///< of what counts
  std::size_t min_count = 1;              ///< of what counts
  std::optional<double> max_s = {};       ///< from the start, whatever else is wanted
  std::optional<double> deadline_s = {};  ///< moment that must not pass

  /// Whether the values decide how long to measure. Otherwise the least time and count are all,
  /// everything measured counts, and steadiness is only told.
  bool adaptive() const { return precision || max_s; }
};

enum class StoppedBy {
  kPrecision,  ///< steady, and as precise as wanted
  kMinTime,    ///< the least time and count, where no precision is wanted
  kMaxTime,
  kTimeLimit,  ///< another value like the last would pass the deadline
};

/// "precision reached", "least time reached", "max_time", "time limit".
std::string_view stopped_by_name(StoppedBy by);

/// Values of one kind, such as the times of micro-batches, while they are measured:
///
///   Measurement measurement(rule, now());
///   while (!measurement.stopped_by()) measurement.add(measure(), now());
///
/// What counts, where the rule is adaptive, is the steady part; where none is found, the last half.
/// Precision is looked at each time the values have become a tenth more, and must be there twice in
/// a row, for stopping at the first interval that happens to be short would cost its confidence
/// (Law & Kelton 1984, Oper. Res. 32, 169; what remains: tests/runner/test_measurement.cpp). For
/// the same reason an adaptive measurement ends only when it has been steady for the last fifth of
/// its values and 20 of them count.
class Measurement {
 public:
  /// `start_s` and all other moments are of one clock.
  Measurement(StoppingRule rule, double start_s);

  /// The next value, finite, and when it was complete.
  void add(double value, double now_s);

  /// Why to stop; empty: go on.
  std::optional<StoppedBy> stopped_by() const { return stopped_by_; }

  /// Whether what counts is steady; empty where that are too few values to tell.
  std::optional<bool> steady() const;

  /// The detector's word on all values.
  std::optional<Steadiness> steadiness() const { return detector_.assess(); }

  /// Of what counts: the number of values before it, and its time.
  std::size_t begin() const;
  double begin_s() const;
  double end_s() const;

 private:
  std::optional<StoppedBy> assess() const;
  bool is_complete() const;
  void look_at_precision();

  StoppingRule rule_;
  double start_s_;
  std::size_t min_count_;      ///< the rule's, or more where quantiles need it
  std::size_t unsteady_ = 0;   ///< values when it was last not steady
  std::size_t next_look_ = 0;  ///< at the precision, when there are so many values
  int precise_looks_ = 0;      ///< in a row
  SteadyDetector detector_;
  std::vector<double> values_;
  std::vector<double> ends_s_;
  std::optional<StoppedBy> stopped_by_;
};

}  // namespace doetune::measurement
