// The next runs: where they are expected to improve the goals most.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tuning/problem.h"

namespace doetune::tuning {

/// Settings to run next.
struct Proposal {
  Settings settings;
  /// The expected improvement on the best of the runs so far, relative to it, times the probability
  /// of completing and of meeting the limits: Utility::relative. Empty while no run meets the
  /// limits: then the settings that most probably do are proposed; and before the runs support
  /// models: then settings far from all runs. A gain below 1 % is the largest there is, whatever
  /// runs cost: the settings are then, every other time, those of the largest with predictive
  /// standard deviations inflated threefold; each time among settings with a level of a categorical
  /// factor that no run has had, as long as there are any.
  std::optional<double> gain;
  double completes = 1;     ///< the probability that the run completes
  double meets_limits = 1;  ///< the probability that the means there meet all limits
  bool explores = false;    ///< chosen before the runs supported models
  bool untried = false;     ///< it has a level of a categorical factor that no run has had
};

/// Up to so many usable settings are all candidates; of more, some are.
constexpr std::size_t kMaxCandidates = 10'000;

/// The next `batch` runs, to be made at the same time, all of them different: each as if the ones
/// before it, and those `under_way`, had measured what is expected of them. Settings that could not
/// run are not proposed again, nor those that are known to be harder (infeasible_when). Empty if
/// the region has no other settings, and where no models can be fitted once all have been run.
///
/// The acquisition function: with u the utility (see Utility) and x* the settings whose mean is
/// best of those that were run and may be recommended (Acquisition::incumbent), a run at x is worth
///
///   E[max(0, u(m(x) + d(x) Z) - u(m(x*)))] P(completes at x) P(the means at x meet the limits)
///
/// where Z is standard normal, m the mean of a Gaussian process and d what a run would change it by
/// (Means::learnt), averaged over draws of the parameters of the processes. Repeating x* is worth
/// little once its mean is known well. Of one goal whose logarithm is modelled, the improvement is
/// that of the logarithm, times u(m(x*)). The settings that maximise this per unit cost (RunCost)
/// are chosen.
///
/// Of the Pareto front (Problem::front), the improvement is that of the volume between the front of
/// the means at settings that were run and a point a little worse than all that was measured, by
/// joint draws of the goals: expected hypervolume improvement. Sources: Jones, Schonlau & Welch
/// (1998), J. Global Optimization 13, 455; Huang, Allen, Notz & Zeng (2006), J. Global Optimization
/// 34, 441 (noise); Gardner et al. (2014), ICML 31, 937 (constraints); Snoek, Larochelle & Adams
/// (2012), NeurIPS 25 (draws of the parameters, improvement per cost); Daulton, Balandat & Bakshy
/// (2021), NeurIPS 34 (hypervolume with noise).
std::vector<Proposal> next_runs(const Problem& problem, const std::vector<Observation>& so_far,
                                int batch = 1, const std::vector<Settings>& under_way = {});

}  // namespace doetune::tuning
