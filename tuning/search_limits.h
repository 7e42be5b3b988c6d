// What a search may cost, and how much of that has been used.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "study/directory/search_state.h"
#include "study/run_record.h"
#include "study/study.h"

namespace doetune::tuning {

/// What a search may cost.
struct SearchLimits {
  int budget = 0;        ///< total number of runs, including confirmation runs
  double tolerance = 0;  ///< the smallest expected gain that is worth a run: a fraction of the best
  int settings = 1;      ///< to confirm: the optimum, and the baseline if there is one
  int confirmations = 0;  ///< of each of the settings: at most a quarter of the budget together,
                          ///< none of a front
  /// Limits on the time in which runs or set-ups are under way, including confirmation runs; on the
  /// time of each multiplied by its GPUs; and on the energy that telemetry recorded of GPUs and of
  /// hosts' processors. With any of them, proposals are compared by gain per cost.
  double seconds = std::numeric_limits<double>::infinity();
  double gpu_seconds = std::numeric_limits<double>::infinity();
  double joules = std::numeric_limits<double>::infinity();
  int jobs = 1;        ///< runs made at a time
  bool front = false;  ///< the Pareto front is wanted: see Problem

  /// The total number of confirmation and baseline runs.
  int validating() const { return settings * confirmations; }
};

/// The number of runs of a search if none is given: 10 per factor plus 10.
int default_budget(const study::Study& study);

/// The smallest expected gain that is worth a run if none is given.
constexpr double kTolerance = 0.01;

/// The limits that were given; the defaults for those that were not.
SearchLimits search_limits(const study::Study& study, const study::SearchState& given);

/// A limit beside that on the number of runs.
struct Resource {
  double limit = std::numeric_limits<double>::infinity();
  double used = 0;              ///< by all runs and set-ups
  double each = 0;              ///< by a completed run, on average; 0 if none has been made
  std::string (*text)(double);  ///< an amount as users read it: "3 h 10 min"
  const char* of;               ///< what follows that: " of GPU time"
  int shared_by = 1;            ///< so many concurrent runs: one alone uses as much as these

  double left() const;

  /// The number of runs that an amount pays for; infinite if runs use none of it.
  double runs_for(double amount) const;

  /// The confirmation runs of each of the settings that a quarter of the limit pays for: at least
  /// one, and no more than there should be.
  int confirmations(const SearchLimits& limits) const;
};

/// The time, GPU time and energy of these runs.
std::vector<Resource> resources(const std::vector<study::RunRecord>& records,
                                const SearchLimits& limits);

/// Whether any of them has recorded the power of GPUs or processors.
bool record_power(const std::vector<study::RunRecord>& records);

}  // namespace doetune::tuning
