#include "tuning/early_ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/format.h"
#include "doe/design.h"
#include "surfaces/distributions.h"
#include "surfaces/optimum/pareto.h"
#include "tuning/utility.h"

namespace doetune::tuning {
namespace {

constexpr double kNoEnd = std::numeric_limits<double>::infinity();

/// The last report of a response up to a step; empty if there is none.
std::optional<double> reported_at(const Progress& progress, double step, const std::string& name) {
  std::optional<double> value;
  for (const study::ProgressPoint& point : progress) {
    if (point.step > step) break;
    const auto found = point.responses.find(name);
    if (found != point.responses.end()) value = found->second;
  }
  return value;
}

/// The value of a range that its goal likes best.
double best_in(const surfaces::Goal& goal, const surfaces::Interval& range) {
  switch (goal.type) {
    case doe::GoalType::kMinimize:
      return range.low;
    case doe::GoalType::kTarget:
      return std::clamp(goal.target, range.low, range.high);
    default:
      return range.high;
  }
}

bool is_better(const surfaces::Goal& goal, double value, double than) {
  return surfaces::cost(goal, value) < surfaces::cost(goal, than);
}

/// The range on the far side of its end that its goal likes best, which is no worse than all that
/// was measured.
surfaces::Interval bound_of(const surfaces::Goal& goal, const surfaces::Interval& range,
                            const surfaces::Interval& measured) {
  const double best = best_in(goal, range);
  const bool from_above = goal.type == doe::GoalType::kMinimize ||
                          (goal.type == doe::GoalType::kTarget && best > goal.target);
  return from_above ? surfaces::Interval{std::min(best, measured.high), kNoEnd}
                    : surfaces::Interval{-kNoEnd, std::max(best, measured.low)};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Of the completed runs; empty if they support none.
std::optional<surfaces::GaussianProcess> process_of(const Problem& problem,
                                                    const Objective& objective,
                                                    const std::vector<const Observation*>& runs) {
  Eigen::MatrixXd coded(runs.size(), problem.factors.size());
  Eigen::VectorXd y(runs.size());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    coded.row(row) = doe::coded_point(problem.factors, runs[i]->settings).transpose();
    y[row] = runs[i]->values.at(objective.name);
  }
  try {
    return surfaces::fit_gaussian_process(
        doe::Model::parse({"1"}, problem.factors), coded, y,
        {.transform = objective.transform, .with_nugget = true, .threads = problem.threads});
  } catch (const surfaces::FitError&) {
    return std::nullopt;
  }
}

}  // namespace

EarlyEnding::EarlyEnding(const Problem& problem, const std::vector<Observation>& so_far,
                         const std::vector<Progress>& progress,
                         const study::EndEarlySettings& settings)
    : settings_(settings) {
  const Utility utility(problem, so_far);
  std::vector<const Observation*> complete, meeting;
  std::vector<double> last_steps;
  for (std::size_t i = 0; i < so_far.size(); ++i) {
    const Observation& run = so_far[i];
    const bool has_goals =
        std::all_of(utility.goals().begin(), utility.goals().end(),
                    [&](std::size_t o) { return run.values.contains(problem.objectives[o].name); });
    if (!run.completed || run.ended_early() || !has_goals) continue;
    complete.push_back(&run);
    measured_.push_back(run.settings);
    if (utility.of(run)) meeting.push_back(&run);
    if (progress[i].empty()) continue;
    finished_.push_back({run.values, progress[i]});
    last_steps.push_back(progress[i].back().step);
  }
  if (static_cast<int>(finished_.size()) < settings.runs || meeting.empty()) return;
  late_ = kLate * median(std::move(last_steps));
  std::vector<Compared> goals;
  for (const std::size_t o : utility.goals()) {
    Compared goal{problem.objectives[o], 0, {}, {kNoEnd, -kNoEnd}};
    const auto process = process_of(problem, goal.objective, complete);
    if (!process) return;
    goal.scatter =
        std::hypot(process->sigma, process->process_sigma * std::sqrt(process->parameters.nugget));
    const surfaces::GaussianProcess smooth = process->smooth();
    for (const Observation* run : complete) {
      goal.measured.low = std::min(goal.measured.low, run->values.at(goal.objective.name));
      goal.measured.high = std::max(goal.measured.high, run->values.at(goal.objective.name));
    }
    for (const Observation* run : meeting) {
      goal.means.push_back(smooth.response(doe::coded_point(problem.factors, run->settings)));
    }
    goals.push_back(std::move(goal));
  }
  goals_ = std::move(goals);
}

std::optional<EarlyEnding::Forecast> EarlyEnding::forecast(
    const Objective& objective, const study::ProgressPoint& latest) const {
  const auto now = latest.responses.find(objective.name);
  if (now == latest.responses.end()) return std::nullopt;
  const auto usable = [&](double y) { return surfaces::has_value(objective.transform, y); };
  if (!usable(now->second)) return std::nullopt;
  std::vector<double> changes;
  for (const Finished& run : finished_) {
    const auto then = reported_at(run.progress, latest.step, objective.name);
    const double measured = run.values.at(objective.name);
    if (!then || !usable(*then) || !usable(measured)) continue;
    changes.push_back(surfaces::transformed(objective.transform, measured) -
                      surfaces::transformed(objective.transform, *then));
  }
  if (static_cast<int>(changes.size()) < settings_.runs) return std::nullopt;
  const auto n = static_cast<double>(changes.size());
  const auto z =
      Eigen::Map<const Eigen::ArrayXd>(changes.data(), static_cast<Eigen::Index>(changes.size()));
  const double variance = (z - z.mean()).square().sum() / (n - 1);
  return Forecast{surfaces::transformed(objective.transform, now->second) + z.mean(),
                  std::sqrt(variance * (1 + 1 / n)), n - 1};
}

/// Of the mean of many runs that scatter so much; with 0, of the run itself.
surfaces::Interval EarlyEnding::range_of(const Forecast& forecast, const Objective& objective,
                                         double scatter) const {
  const double half =
      std::hypot(surfaces::t_value(settings_.confidence, forecast.df) * forecast.deviation,
                 surfaces::normal_value(settings_.confidence) * scatter);
  const double low = surfaces::back_transformed(objective.transform, forecast.mean - half);
  const double high = surfaces::back_transformed(objective.transform, forecast.mean + half);
  return {std::min(low, high), std::max(low, high)};
}

/// A run that is better in all goals, by its place among those that met all limits.
std::optional<std::size_t> EarlyEnding::better_run(const std::vector<Forecast>& forecasts) const {
  std::vector<double> best;
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    const Compared& goal = goals_[g];
    best.push_back(
        best_in(goal.objective.goal, range_of(forecasts[g], goal.objective, goal.scatter)));
  }
  std::optional<std::size_t> found;
  for (std::size_t run = 0; run < goals_.front().means.size(); ++run) {
    bool better = true;
    for (std::size_t g = 0; g < goals_.size() && better; ++g) {
      better = is_better(goals_[g].objective.goal, goals_[g].means[run], best[g]);
    }
    const Compared& first = goals_.front();
    if (better &&
        (!found || is_better(first.objective.goal, first.means[run], first.means[*found]))) {
      found = run;
    }
  }
  return found;
}

std::optional<EarlyVerdict> EarlyEnding::assess(const Settings& settings,
                                                const study::ProgressPoint& latest) const {
  if (goals_.empty() || latest.step < settings_.after || latest.step > late_) return std::nullopt;
  if (std::find(measured_.begin(), measured_.end(), settings) != measured_.end()) {
    return std::nullopt;
  }
  std::vector<Forecast> forecasts;
  for (const Compared& goal : goals_) {
    const auto expected = forecast(goal.objective, latest);
    if (!expected) return std::nullopt;
    forecasts.push_back(*expected);
  }
  const auto better = better_run(forecasts);
  if (!better) return std::nullopt;
  EarlyVerdict verdict;
  for (std::size_t g = 0; g < goals_.size(); ++g) {
    const Compared& goal = goals_[g];
    const auto range = range_of(forecasts[g], goal.objective, 0);
    verdict.bounds[goal.objective.name] = bound_of(goal.objective.goal, range, goal.measured);
    verdict.reason += fmt::format("{}{} would have been {} at best, against {}", g == 0 ? "" : "; ",
                                  goal.objective.name,
                                  analysis::short_number(best_in(goal.objective.goal, range)),
                                  analysis::short_number(goal.means[*better]));
  }
  return verdict;
}

}  // namespace doetune::tuning
