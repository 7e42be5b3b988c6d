#include <algorithm>
#include <stdexcept>

#include "doe/design.h"
#include "surfaces/optimum.h"
#include "surfaces/optimum/best_points.h"
#include "surfaces/optimum/empty_region.h"

namespace doetune::surfaces {
namespace {

constexpr std::size_t kImprovedPoints = 32;
constexpr long kEvaluations = 300'000;  // of improvements, all together
constexpr std::size_t kAlternatives = 3;

/// Settings reached from a point by moves that better its score.
Scored improved(const OptimumRequest& request, const SettingsSearch& search, Scored start,
                long& evaluations) {
  start.score =
      best_of(request, doe::coded_point(request.factors, start.settings).transpose()).score;
  const auto choose = [&](const Block& trials) -> std::optional<Eigen::Index> {
    const BestOf found = best_of(request, trials.coded, {}, &start.score);
    if (!better(found.score, start.score)) return std::nullopt;
    start.score = found.score;
    return found.at;
  };
  start.settings = search.improved(start.settings, choose, evaluations);
  return start;
}

/// The best of some points, then the best of the others that differ from all before.
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

/// The best settings of a search; where it is not exhaustive, improved.
std::vector<Scored> chosen_points(const OptimumRequest& request, const SettingsSearch& search) {
  if (search.is_exhaustive()) return best_points(request, search, 1 + kAlternatives);
  std::vector<Scored> points = best_points(request, search, kImprovedPoints);
  const std::size_t starts = points.size();
  long evaluations = kEvaluations;
  for (std::size_t i = 0; i < starts; ++i) {
    points.push_back(improved(request, search, points[i], evaluations));
  }
  return spread_out(request, std::move(points), 1 + kAlternatives);
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

}  // namespace

std::optional<Settings> baseline_of(const std::vector<doe::Factor>& factors) {
  Settings settings;
  for (const doe::Factor& factor : factors) {
    if (!factor.baseline) return std::nullopt;
    settings.push_back(*factor.baseline);
  }
  return settings;
}

Optimum find_optimum(const OptimumRequest& request) {
  const SettingsSearch search(request.factors, request.region, request.hold,
                              request.most_enumerated);
  Optimum optimum;
  optimum.global = search.is_exhaustive();
  const std::vector<Scored> chosen = chosen_points(request, search);
  if (chosen.empty()) refuse_empty_region(request, search);
  optimum.best = assess(request, chosen.front().settings);
  optimum.feasible = optimum.best.violation == 0;
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    optimum.alternatives.push_back(assess(request, chosen[i].settings));
  }
  if (const auto baseline = baseline_of(request.factors)) {
    optimum.baseline = assess(request, *baseline);
  }
  optimum.at_bound = factors_at_bound(request, optimum.best.settings);
  return optimum;
}

}  // namespace doetune::surfaces
