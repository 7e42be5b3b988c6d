#include "tuning/answer.h"

#include <algorithm>
#include <memory>

#include "surfaces/models/gaussian_process_posterior.h"
#include "surfaces/optimum/settings_search.h"
#include "tuning/surrogate_models.h"

namespace doetune::tuning {
namespace {

constexpr std::size_t kMaxEnumerated = 20'000;
constexpr int kCompletionDraws = 256;

/// The probability asked for, or the highest of a completed run if that is less.
double min_feasibility(const Problem& problem, const SurrogateModels& models) {
  return std::min(problem.feasibility, models.completion(models.completed()).maxCoeff());
}

std::vector<Settings> completed_settings(const Problem& problem,
                                         const std::vector<Observation>& so_far) {
  std::vector<Settings> settings;
  for (const Observation& observation : so_far) {
    if (!observation.completed || observation.ended_early()) continue;
    if (problem.region.allows(observation.settings)) settings.push_back(observation.settings);
  }
  return settings;
}

/// The ends of ramps: of all usable settings, or of the only ones that can be run.
std::vector<surfaces::Interval> ranges_of(const surfaces::OptimumRequest& request) {
  if (request.only.empty()) return surfaces::predicted_ranges(request);
  const Eigen::MatrixXd coded =
      surfaces::SettingsSearch(request.factors, request.region, request.only).all_points().coded;
  std::vector<surfaces::Interval> ranges;
  for (const surfaces::GoalResponse& response : request.responses) {
    const Eigen::VectorXd values = response.surface->responses(coded);
    ranges.push_back({values.minCoeff(), values.maxCoeff()});
  }
  return ranges;
}

}  // namespace

std::optional<surfaces::Optimum> answer(const Problem& problem,
                                        const std::vector<Observation>& so_far, Among among) {
  const SurrogateModels models(problem, so_far, kCompletionDraws);
  surfaces::OptimumRequest request{problem.factors, problem.region, {}, {}};
  request.only = problem.only;
  request.max_enumerated = kMaxEnumerated;
  request.threads = problem.threads;
  for (const Observation& observation : so_far) {
    if (!observation.completed) request.region = request.region.without(observation.settings);
  }
  for (std::size_t o = 0; o < problem.objectives.size(); ++o) {
    const surfaces::Surface* surface = models.surface(o);
    if (surface == nullptr) return std::nullopt;
    const Objective& objective = problem.objectives[o];
    request.responses.push_back({objective.name, surface, models.goal(o)});
    if (const surfaces::GaussianProcess* process = models.process(o)) {
      request.responses.back().posterior =
          std::make_shared<surfaces::GaussianProcessPosterior>(*process, problem.threads);
    }
  }
  if (const surfaces::Feasibility* feasibility = models.feasibility()) {
    request.feasibility = [feasibility](const Eigen::MatrixXd& coded) {
      return feasibility->probabilities(coded);
    };
    request.min_feasibility = min_feasibility(problem, models);
  }
  const std::vector<surfaces::Interval> ranges = ranges_of(request);
  for (std::size_t o = 0; o < ranges.size(); ++o) {
    request.responses[o].goal->close(ranges[o].low, ranges[o].high);
  }
  if (among == Among::kAll) return surfaces::find_optimum(request);
  surfaces::OptimumRequest of_runs = request;
  of_runs.only = completed_settings(problem, so_far);
  if (of_runs.only.empty()) return surfaces::find_optimum(request);
  surfaces::Optimum optimum = surfaces::find_optimum(of_runs);
  return optimum.feasible ? optimum : surfaces::find_optimum(request);
}

}  // namespace doetune::tuning
