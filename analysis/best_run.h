// The completed run whose measured responses meet the goals best.
#pragma once

#include <optional>
#include <string>

#include "analysis/analysis.h"

namespace doetune::analysis {

struct BestRun {
  int run = 0;
  bool meets_limits = false;
};

/// The better of two runs, by violation of limits, then desirability, then the first response to
/// maximize or minimize; `best` if `run` did not complete, lacks a response with a goal, has a held
/// factor at another level, or settings that were infeasible in another run.
std::optional<BestRun> better_run(const Analysis& analysis, const std::optional<BestRun>& best,
                                  int run);

/// The best completed run by violation of limits, then desirability, among those that measured
/// every response with a goal and have the held factors at their levels. Empty without goals or
/// such a run. As the best of noisy values it is biased: see Preference.
std::optional<BestRun> best_measured_run(const Analysis& analysis);

/// Whether to prefer the best measured run to the best predicted settings. A single run of those is
/// expected in [l, u], its 95 % prediction interval: of the confirmation runs if they were made
/// (mean +- t s sqrt(1 + 1 / n)), else of the surface, jointly for the r ramp goals (Bonferroni).
/// The measured run is preferred if its value of a ramp goal lies beyond [l, u] towards the goal,
/// and none lies beyond it on the other side; if only the run meets all limits; and if there is no
/// interval but the run is better than the prediction. Otherwise its lead is within the noise of
/// single runs, and as the best of many it looks better than it is. An optimum that its
/// confirmation runs contradict is not recommended either.
struct Preference {
  BestRun run;
  bool is_measured = false;
  std::string values;  ///< of the run: "y 215 points, cost 11 s"
  std::string reason;  ///< a sentence
};

/// Empty without an optimum or a measured run.
std::optional<Preference> preference(const Analysis& analysis);

/// "Best measured: run 7 (a = 1, b = 0), y 215 points. Prefer ..."; empty if there is none.
std::string preference_text(const Analysis& analysis);

}  // namespace doetune::analysis
