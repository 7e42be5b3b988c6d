#include <algorithm>
#include <stdexcept>

#include "doe/design.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/best_candidate.h"
#include "surfaces/optimum/best_points.h"
#include "surfaces/optimum/empty_region.h"
#include "surfaces/optimum/global_search.h"
#include "surfaces/optimum/quadratic_goal.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kImprovedPoints = 32;
constexpr long kEvaluations = 300'000;  // total over all improvements
constexpr std::size_t kAlternatives = 3;
constexpr double kRounding = 1e-12;  // relative

Scored scored(const OptimumRequest& request, const Scorer& scorer, Settings settings) {
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  return {std::move(settings), scorer.best_of(coded.transpose()).score};
}

SettingsSearch search_of(const OptimumRequest& request) {
  if (!request.only.empty()) return {request.factors, request.region, request.only};
  return {request.factors, request.region, request.hold, request.max_enumerated};
}

/// Improves settings by moves that increase their score.
Scored improved(const OptimumRequest& request, const Scorer& scorer, const SettingsSearch& search,
                Scored start, long& evaluations) {
  start = scored(request, scorer, std::move(start.settings));
  const auto choose = [&](const Block& trials) -> std::optional<Eigen::Index> {
    const BestOf found = scorer.best_of(trials.coded, {}, &start.score);
    if (!better(found.score, start.score)) return std::nullopt;
    start.score = found.score;
    return found.at;
  };
  start.settings = search.improved(start.settings, choose, evaluations);
  return start;
}

/// The best of some points, then repeatedly the best of the others that differs from all before.
std::vector<Scored> spread_out(const OptimumRequest& request, std::vector<Scored> points,
                               std::size_t most) {
  std::stable_sort(points.begin(), points.end(),
                   [](const Scored& a, const Scored& b) { return better(a.score, b.score); });
  std::vector<Scored> chosen;
  for (Scored& point : points) {
    const bool is_new = std::all_of(chosen.begin(), chosen.end(), [&](const Scored& other) {
      return differ(request.factors, point.settings, other.settings);
    });
    if (is_new && chosen.size() < most) chosen.push_back(std::move(point));
  }
  return chosen;
}

/// The usable settings adjacent to the exact continuous optimum, if that is known.
std::vector<Scored> beside_exact(const OptimumRequest& request, const Scorer& scorer,
                                 const SettingsSearch& search) {
  const auto goal = QuadraticGoal::of(request);
  if (!goal) return {};
  const Eigen::MatrixXd natural = usable_around(request, search, goal->best().at);
  std::vector<Scored> points;
  for (Eigen::Index i = 0; i < natural.rows(); ++i) {
    points.push_back(scored(request, scorer, Block{natural, {}}.settings(i)));
  }
  return spread_out(request, std::move(points), 1);
}

/// Starting points: the exact optimum first, then the results of the global search and the grid.
std::vector<Scored> starts(const OptimumRequest& request, const Scorer& scorer,
                           const SettingsSearch& search) {
  std::vector<Scored> points = beside_exact(request, scorer, search);
  for (Settings& settings : globally_searched(request, search)) {
    points.push_back(scored(request, scorer, std::move(settings)));
  }
  const std::vector<Scored> of_grid = best_points(request, search, kImprovedPoints);
  points.insert(points.end(), of_grid.begin(), of_grid.end());
  return points;
}

/// The best settings of a search, improved if it is not exhaustive.
std::vector<Scored> chosen_points(const OptimumRequest& request, const SettingsSearch& search,
                                  std::size_t most) {
  if (search.is_exhaustive()) return best_points(request, search, most);
  const Scorer scorer(request);
  std::vector<Scored> points = starts(request, scorer, search);
  const std::size_t count = points.size();
  long evaluations = kEvaluations;
  for (std::size_t i = 0; i < count; ++i) {
    points.push_back(improved(request, scorer, search, points[i], evaluations));
  }
  return spread_out(request, std::move(points), most);
}

/// Where every factor is held, nothing was chosen.
SettingsAre settings_are(const OptimumRequest& request) {
  return request.hold.size() == request.factors.size() ? SettingsAre::kNamed : SettingsAre::kChosen;
}

std::vector<std::string> factors_at_bound(const OptimumRequest& request, const Settings& settings) {
  std::vector<std::string> names;
  for (std::size_t f = 0; f < settings.size(); ++f) {
    const doe::Factor& factor = request.factors[f];
    if (factor.is_categorical() || request.hold.count(factor.name) > 0) continue;
    if (settings[f] == factor.low || settings[f] == factor.high) names.push_back(factor.name);
  }
  return names;
}

/// Upper bound on the gain of any other setting, from the exact continuous optimum.
std::optional<double> optimality_gap(const OptimumRequest& request, const SettingsSearch& search,
                                     const Settings& settings) {
  if (search.is_exhaustive()) return 0;
  const auto goal = QuadraticGoal::of(request);
  if (!goal) return std::nullopt;
  const Eigen::VectorXd coded = doe::coded_point(request.factors, settings);
  Prediction bound = goal->response().surface->predict(coded);
  const double found = bound.response();
  bound.mean = goal->sign() * std::max(goal->best().value, goal->sign() * bound.mean);
  const double gain = std::abs(bound.response() - found);
  return gain > kRounding * std::abs(found) ? gain : 0;
}

}  // namespace

std::optional<Settings> baseline_of(const std::vector<doe::Factor>& factors) {
  Settings settings;
  for (const doe::Factor& factor : factors) {
    if (!factor.baseline) return std::nullopt;
    settings.push_back(*factor.baseline);
  }
  return settings;
}

Candidate best_candidate(const OptimumRequest& request) {
  const SettingsSearch search = search_of(request);
  const std::vector<Scored> chosen = chosen_points(request, search, 1);
  if (chosen.empty()) refuse_empty_region(request, search);
  return assess(request, chosen.front().settings, settings_are(request));
}

Optimum find_optimum(const OptimumRequest& request) {
  const SettingsSearch search = search_of(request);
  Optimum optimum;
  const std::vector<Scored> chosen = chosen_points(request, search, 1 + kAlternatives);
  if (chosen.empty()) refuse_empty_region(request, search);
  optimum.best = assess(request, chosen.front().settings, settings_are(request));
  optimum.optimality_gap = optimality_gap(request, search, optimum.best.settings);
  optimum.global = optimum.optimality_gap == 0.0;
  optimum.feasible = optimum.best.violation == 0;
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    optimum.alternatives.push_back(assess(request, chosen[i].settings));
  }
  if (const auto baseline = baseline_of(request.factors)) {
    optimum.baseline = assess(request, *baseline, SettingsAre::kNamed);
  }
  optimum.at_bound = factors_at_bound(request, optimum.best.settings);
  return optimum;
}

}  // namespace doetune::surfaces
